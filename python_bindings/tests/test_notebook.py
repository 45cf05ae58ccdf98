# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The notebook runs from its first cell to its last one, in a kernel of Jupyter without a screen."""

import pathlib

import pytest

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "examples/python/first_hour.ipynb"
nbformat = pytest.importorskip("nbformat", reason="Jupyter is not installed")
nbclient = pytest.importorskip("nbclient", reason="Jupyter is not installed")
pytestmark = pytest.mark.skipif(not NOTEBOOK.exists(), reason="the package is tested without the tree")


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    read = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(read, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    return read


def test_cells_run_and_show_pictures(notebook, tmp_path):
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    pictures = [output for output in shown if "image/svg+xml" in output.get("data", {})]
    assert len(pictures) == 2  # the losses, and the plan of the memory
    texts = "".join(output.get("text", "") + output.get("data", {}).get("text/markdown", "") for output in shown)
    assert "multiply-by-inverse" in texts and "func.func" in texts
    assert (tmp_path / "spirals.adx").exists()


def test_it_is_saved_without_results():
    read = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.outputs and cell.execution_count is None for cell in read.cells if cell.cell_type == "code")
