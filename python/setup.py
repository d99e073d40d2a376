"""Builds the package: the engine by CMake, the extension module by cffi and setuptools.

TENON_SOURCE  folder of the engine's sources: csrc of a source distribution, or the folder above
TENON_BUILD   folder of a CMake build of them, to link its archives instead of building them again
TENON_CUDA    1: builds the module for cards as well, which needs clang and the tools of LLVM
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from native import SOURCE  # noqa: E402

ARCHIVES = ["files/libtenon_files.a", "scenes/libtenon_scenes.a", "import/libtenon_import.a",
            "batch/libtenon_batch.a", "libtenon.a"]
TARGETS = ["tenon_files", "tenon_scenes", "tenon_import", "tenon_batch", "tenon_static", "tenon_cli"]
CARDS = "batch/cuda/libtenon_cuda.a"  # linked if it has been built
# Not needed to build the engine and the command.
LEFT_OUT = {".git", "build", "docs", "python", "test", "web"}


def version() -> str:
    text = (Path(SOURCE) / "include/tenon/base.h").read_text()
    match = re.search(r'TN_VERSION_STRING "([^"]+)"', text)
    assert match
    return match.group(1)


def build_engine(folder: Path) -> Path:
    """Builds the archives and the command; returns the folder that has them."""
    cards = os.environ.get("TENON_CUDA") == "1"
    configure = ["cmake", "-S", str(HERE), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release",
                 f"-DTENON_SOURCE={SOURCE}", f"-DTENON_BUILD_CUDA={int(cards)}"]
    subprocess.check_call(configure, stdout=subprocess.DEVNULL)
    targets = TARGETS + ["tenon_cuda"] * cards
    subprocess.check_call(["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1),
                           "--target", *targets])
    return folder / "tenon"


class BuildExtension(build_ext):
    def run(self) -> None:
        built = os.environ.get("TENON_BUILD")
        folder = Path(built) if built else build_engine(Path(self.build_temp).resolve() / "engine")
        for extension in self.extensions:
            extension.extra_objects = [str(folder / name) for name in ARCHIVES]
            if (folder / CARDS).is_file():
                extension.extra_objects.insert(0, str(folder / CARDS))
                extension.define_macros.append(("TENON_HAS_CARDS", None))
        super().run()
        self.copy_beside(folder / "tenon")

    def copy_beside(self, command: Path) -> None:
        """The command and the models of robots, which are no modules."""
        package = HERE / "tenon" if self.inplace else Path(self.build_lib) / "tenon"
        (package / "bin").mkdir(parents=True, exist_ok=True)
        if command.is_file():
            shutil.copy2(command, package / "bin/tenon")
            subprocess.call(["strip", str(package / "bin/tenon")])
        shutil.copytree(Path(SOURCE) / "robots", package / "robots", dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("*.mjs"))


class SourceDistribution(sdist):
    def make_release_tree(self, base_dir: str, files: list) -> None:
        super().make_release_tree(base_dir, files)
        target = Path(base_dir) / "csrc"
        target.mkdir()
        for source in sorted(Path(SOURCE).iterdir()):
            if source.is_dir() and source.name not in LEFT_OUT:
                shutil.copytree(source, target / source.name, ignore=shutil.ignore_patterns("node_modules"))
            elif source.name in ("CMakeLists.txt", "LICENSE"):
                shutil.copy2(source, target / source.name)


setup(
    version=version(),
    cffi_modules=["native.py:ffi"],
    cmdclass={"build_ext": BuildExtension, "sdist": SourceDistribution},
    options={"bdist_wheel": {"py_limited_api": "cp38"}},
)
