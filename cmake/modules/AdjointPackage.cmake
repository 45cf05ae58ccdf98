# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# The Debian package, which scripts/build_deb.sh makes of an installation.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME adjoint)
set(CPACK_PACKAGE_CONTACT "The Adjoint developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "MLIR compiler for tensor programs that need gradients")
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_SOURCE_DIR}/LICENSE")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libmlir-22, libllvm22, libstdc++6, libgcc-s1, libc6")
# For projects in C++ and for MLIR's C API; for plug-ins; for `ad-runner --emit`.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libmlir-22-dev, llvm-22-dev, mlir-22-tools, lld-22")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${CMAKE_SOURCE_DIR}/cmake/debian/triggers")
# What is installed has been built by then; CPack would build everything.
set(CPACK_INSTALL_CMAKE_PROJECTS "")
set(CPACK_INSTALLED_DIRECTORIES "${CMAKE_BINARY_DIR}/deb-root" /)
include(CPack)
