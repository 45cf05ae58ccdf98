# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels written in PTX that double 4096 x 4096 numbers: a good one, and some that have a fault each, which the gate
has to find in what ptxas makes of them. {name: (PTX, bounds that it misses)}."""

HEAD = """.version 8.0
.target {chip}
.address_size 64
.visible .entry kernel(.param .u64 a, .param .u64 b)
.maxntid 256
{
.reg .b64 %rd<9>; .reg .b32 %r<16>; .reg .f32 %f<200>; .reg .pred %p<3>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %nctaid.x;
mad.lo.u32 %r2, %r2, %r3, %r1; mul.lo.u32 %r4, %r4, %r3;
LOOP:
"""
TAIL = "add.u32 %r2, %r2, %r4; setp.lt.u32 %p1, %r2, 4194304; @%p1 bra LOOP;\nret;\n}\n"
PLACES = "mul.wide.u32 %rd3, %r2, {bytes}; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n"
WIDE = PLACES.replace("{bytes}", "16") + """ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];
add.f32 %f1, %f1, %f1; add.f32 %f2, %f2, %f2; add.f32 %f3, %f3, %f3; add.f32 %f4, %f4, %f4;
st.global.v4.f32 [%rd5], {%f1, %f2, %f3, %f4};
"""
NARROW = PLACES.replace("{bytes}",
                        "4") + "ld.global.f32 %f1, [%rd4]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd5], %f1;\n"
# By a dynamic number.
DIVIDED = "mov.u32 %r5, %clock; div.u32 %r6, %r2, %r5; rem.u32 %r7, %r6, %r3; mad.lo.u32 %r2, %r7, %r5, %r6;\n"


def crowded(count):
    """As many numbers are needed at once, and all are loaded before the first is used."""
    loads = "".join(f"ld.global.f32 %f{i}, [%rd4+{i * 4096}];\n" for i in range(count))
    sums = "".join(f"mul.f32 %f{count}, %f{count}, %f{i}; st.global.f32 [%rd5+{i * 4096}], %f{count};\n"
                   for i in reversed(range(count)))
    return PLACES.replace("{bytes}", "4") + loads + "bar.sync 0;\n" + f"mov.f32 %f{count}, %f0;\n" + sums


def text(body, head=HEAD):
    return head + body + TAIL


FAULTS = {
    "good": (text(WIDE), set()),
    "loads of 4 bytes": (text(NARROW), {"bytes in flight"}),
    "division in the loop": (text(DIVIDED + WIDE), {"index integers"}),
    "spilled registers": (text(crowded(100), HEAD.replace(".maxntid 256", ".maxntid 256\n.maxnreg 40")),
                          {"spilled bytes", "local accesses"}),
    "fence in the loop": (text(WIDE + "fence.acq_rel.gpu;\n"), {"fences in loops"}),
}
