// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes that print a program: as trees of operations, or as its kernels in their order.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_PRINTPASSES
#define ADJOINT_DIALECT_AD_TRANSFORMS_PRINTPASSES

include "mlir/Pass/PassBase.td"

def PrintGraphPass : Pass<"ad-print-graph", "::mlir::ModuleOp"> {
  let summary = "Print what every function computes, as trees";
  let description = [{
    Why: the text shows the dependences of a program without the names of its values.

    Each tensor argument, loop and effect, and each value that a block yields or returns, is a root with a running
    number. Its operands follow below, indented by two. A node that was printed before is named again, without its
    operands. Nodes are numbered in the order of the program: arguments first, then operations and loop-carried tensors.
    If a loop carries the result of an elementwise operation as the next value of its first operand, it is an update in
    place, and the carried tensor has the name of its initial value; other carried tensors are nodes of their own.
    Borders of fusions are not printed.

    `form=recorded` prints the words of another system whose graphs are recorded (`MULT`, `Dot Prod`, `SUM`, `View`,
    `Permute`, `Index`, `Feeder`, `Intermediate` for a node that was printed before), so that a test can compare both,
    up to a one-to-one renaming of the numbers. Numbers in parentheses count elements in this form.

    Before:
    ```mlir
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = ad.exp2 %x : tensor<2x3xf32>
      %1 = ad.mul %0, %0 : tensor<2x3xf32>
      return %1 : tensor<2x3xf32>
    }
    ```
    Written:
    ```
    0: %0 = argument : tensor<2x3xf32>
    1: return
      %2 = ad.mul : tensor<2x3xf32>
        %1 = ad.exp2 : tensor<2x3xf32>
          %0 = argument : tensor<2x3xf32>
        %1, see above
    ```
    With `form=recorded`:
    ```
    0: Tensor(id: 0, orig_shape: [2, 3])
    1: Return
      2 = MULT (6)
        1 = EXP2 (6)
          Tensor(id: 0, orig_shape: [2, 3])
        1 = Intermediate
    ```
    Changes nothing. Refuses: unstructured control flow; a file that cannot be written; an unknown form.
  }];
  let options = [
    Option<"file", "file", "std::string", "\"-\"", "where to write; `-` is standard output">,
    Option<"form", "form", "std::string", "\"dialect\"",
           "dialect: operations as programs write them; recorded: the words of a recorded graph, for tests">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

def PrintProcedurePass : Pass<"ad-print-procedure", "::mlir::ModuleOp"> {
  let summary = "Print the kernels of every function in their order, with what each reads";
  let description = [{
    Why: the text answers two questions about fusion: which operations became one kernel, and at which element each
    operand is read. The layout is that of recorded texts of another system, like that of --ad-print-graph.

    A fusion is a header with its operations below it, indented by four; a fusion of a single operation is one line.
    Data movement and constants are parts of the expressions: `Global` enumerates the elements of an elementwise result,
    `X` and `Y` the rows and columns of an operand of a contraction or a reduction. A tensor that is updated in place
    keeps its number; the numbers are those that --ad-print-graph prints for the same program. `Contigious` is a
    movement whose result must be in memory; `Yield` moves a value to a carried tensor, or out of a branch.

    Before:
    ```mlir
    func.func @main(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x4xf32> {
      %t = ad.transpose %w [1, 0] : tensor<4x3xf32>
      %0 = ad.dot %x, %t : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32>
    }
    ```
    Written:
    ```
    Tensor(id: 0, orig_shape: [2, 3])
    Tensor(id: 1, orig_shape: [4, 3])
    Mat (id: 3, ((X * 4) + Y)) = Dot Prod [2, 3] x [3, 4] --> (Mat (id: 0, ((X * 3) + Y)), Mat (id: 1, ((Y * 3) + X)))
    Return --> (Mat (id: 3, Global))
    ```
    Changes nothing. Refuses: unstructured control flow; a file that cannot be written.
  }];
  let options = [
    Option<"file", "file", "std::string", "\"-\"", "where to write; `-` is standard output">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_PRINTPASSES
