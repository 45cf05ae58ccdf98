# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# The build rules that every folder uses: compile flags, TableGen, libraries, tools and the installed package.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

find_program(ADJOINT_CCACHE ccache)
if(ADJOINT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the checkout, so that every clone of the project shares what one has compiled.
  # ccache knows no other way to tell precompiled headers apart than to trust their names and contents.
  set(sloppiness "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime;CCACHE_PCH_EXTSUM=1")
  set(CMAKE_C_COMPILER_LAUNCHER
    "${CMAKE_COMMAND};-E;env;CCACHE_BASEDIR=${CMAKE_SOURCE_DIR};CCACHE_NOHASHDIR=1;${sloppiness};${ADJOINT_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_C_COMPILER_LAUNCHER}")
endif()

# Debian's LLVM is built without assertions; ours are independent of it.
if(ADJOINT_ENABLE_ASSERTIONS)
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
else()
  string(APPEND CMAKE_CXX_FLAGS_RELWITHDEBINFO " -DNDEBUG")
endif()
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# Numerics: the host compiler may not contract multiply-adds of the reference interpreter.
add_compile_options(-ffp-contract=off -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
# The pass names a fault by its line, and tells loops by the names of blocks.
set(ADJOINT_MUTATION_OPTIONS -O1 -gline-tables-only -fno-discard-value-names)
foreach(sanitizer IN LISTS ADJOINT_SANITIZE)
  # A finding ends the program, so that no test passes in spite of it.
  add_compile_options(-fsanitize=${sanitizer} -fno-sanitize-recover=${sanitizer} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizer})
endforeach()

include_directories("${CMAKE_SOURCE_DIR}/include" "${CMAKE_BINARY_DIR}/include")
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
add_definitions(${LLVM_DEFINITIONS})

# Every generated header of the project; libraries that include one depend on it.
add_custom_target(adjoint-headers)

# MLIR and LLVM, as programs of the build tree link them: the members of their archives that a program uses. The shared
# libraries have 350,000 relocations, which take 40 ms before `main`. They are for libAdjoint.so and what is installed,
# and for sanitized builds, where code that is instrumented and code that is not would else share the inline functions
# of LLVM.
add_library(ADCompilerLibraries INTERFACE)
if(ADJOINT_STATIC_LLVM AND NOT ADJOINT_SANITIZE)
  file(GLOB archives "${LLVM_LIBRARY_DIR}/libMLIR*.a" "${LLVM_LIBRARY_DIR}/libLLVM*.a")
  list(FILTER archives EXCLUDE REGEX "/libMLIRCAPI")
  # By the names that libLLVM.so asks for: they are wherever it is, with or without the headers of zlib and zstd.
  list(APPEND archives -l:libz.so.1 -l:libzstd.so.1 ${CMAKE_DL_LIBS})
  target_link_libraries(ADCompilerLibraries INTERFACE ${archives})
  target_link_options(ADCompilerLibraries INTERFACE LINKER:--gc-sections $<$<CONFIG:Release>:LINKER:--strip-debug>)
else()
  target_link_libraries(ADCompilerLibraries INTERFACE MLIR LLVM)
endif()

# adjoint_tablegen(FOO.td OUTPUT.inc -gen-x … OUTPUT2.inc -gen-y …): declarations and definitions of one .td file.
# All outputs together become part of adjoint-headers.
function(adjoint_tablegen td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(TABLEGEN_OUTPUT)
  set(output)
  set(arguments)
  foreach(word IN LISTS ARGN ITEMS end.inc)
    if(word MATCHES "\\.inc$")
      if(output)
        mlir_tablegen(${output} ${arguments} -I${CMAKE_SOURCE_DIR}/include)
      endif()
      set(output ${word})
      set(arguments)
    else()
      list(APPEND arguments ${word})
    endif()
  endforeach()
  get_filename_component(name ${td} NAME_WE)
  string(MD5 folder "${CMAKE_CURRENT_SOURCE_DIR}")
  string(SUBSTRING ${folder} 0 6 folder)
  set(target "adjoint-${name}-${folder}-inc")
  add_public_tablegen_target(${target})
  add_dependencies(adjoint-headers ${target})
endfunction()

# adjoint_plant_faults(ADFoo [MLIR]): in builds with planted faults, compiles the library with the pass of
# test/Mutations. ccache takes the pass for one more source. With MLIR, its headers are precompiled.
function(adjoint_plant_faults name)
  if(NOT (ADJOINT_MUTATIONS STREQUAL "all" OR name IN_LIST ADJOINT_MUTATIONS))
    return()
  endif()
  set(pass "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/ADMutationPass.so")
  target_compile_options(${name} PRIVATE ${ADJOINT_MUTATION_OPTIONS} "SHELL:-fpass-plugin=${pass}")
  set_property(TARGET ${name} PROPERTY CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    "ADJOINT_MUTATIONS_ROOT=${CMAKE_SOURCE_DIR}" "CCACHE_EXTRAFILES=${pass}" ${CMAKE_CXX_COMPILER_LAUNCHER})
  get_target_property(sources ${name} SOURCES)
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS "${pass}")
  target_link_libraries(${name} PUBLIC ADMutationRuntime)
  if("MLIR" IN_LIST ARGN)
    target_precompile_headers(${name} REUSE_FROM ADMutationHeaders)
  endif()
endfunction()

# adjoint_use_precompiled_headers(ADFoo): those of lib/PrecompiledHeaders.h, unless faults are planted in it.
function(adjoint_use_precompiled_headers name)
  if(TARGET ADPrecompiledHeaders AND NOT (ADJOINT_MUTATIONS STREQUAL "all" OR name IN_LIST ADJOINT_MUTATIONS))
    target_precompile_headers(${name} REUSE_FROM ADPrecompiledHeaders)
  endif()
endfunction()

# adjoint_library(ADFoo a.cpp b.cpp [LINK_LIBS …]): one static library that needs LLVM and MLIR.
function(adjoint_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} adjoint-headers)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} ADCompilerLibraries)
  adjoint_plant_faults(${name} MLIR)
  adjoint_use_precompiled_headers(${name})
  set_property(GLOBAL APPEND PROPERTY ADJOINT_LIBRARIES ${name})
endfunction()

# adjoint_plain_library(ADFoo a.cpp [LINK_LIBS …]): one static library that needs neither libLLVM nor libMLIR. Of LLVM
# it may use the support library, which the program that links it brings along, shared or static.
function(adjoint_plain_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  # A program that runs without LLVM has the functions that it calls, and no others of their files.
  target_compile_options(${name} PRIVATE -fno-exceptions -ffunction-sections -fdata-sections)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  adjoint_plant_faults(${name})
  set_property(GLOBAL APPEND PROPERTY ADJOINT_LIBRARIES ${name})
endfunction()

# adjoint_plain_tool(adrt-foo main.cpp LINK_LIBS …): one installed program that runs where only the C library is.
function(adjoint_plain_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  # By their files: LLVM's exported targets would ask for libraries of compression, which nothing here uses.
  list(TRANSFORM ARG_LINK_LIBS REPLACE "^LLVM(.+)$" "${LLVM_LIBRARY_DIR}/libLLVM\\1.a")
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} ${CMAKE_DL_LIBS})
  target_link_options(${name} PRIVATE LINKER:--gc-sections -static-libstdc++ -static-libgcc)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_property(GLOBAL APPEND PROPERTY ADJOINT_INSTALLED_TARGETS ${name})
endfunction()

# adjoint_shared_library(a.cpp …): libAdjoint.so, of these files and all libraries that come before, over the shared
# libraries of MLIR and LLVM. It has the parts of MLIR's C API for what programs are written in and lowered to, which are
# in archives only.
function(adjoint_shared_library)
  get_property(libraries GLOBAL PROPERTY ADJOINT_LIBRARIES)
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE archives)
  foreach(part IN ITEMS Arith Bufferization ControlFlow Conversion Debug Func GPU Index IR Interfaces LLVM Linalg Math
          MemRef NVVM SCF Tensor Transforms Vector)
    list(APPEND archives "${LLVM_LIBRARY_DIR}/libMLIRCAPI${part}.a")
  endforeach()
  add_library(Adjoint SHARED ${ARGN})
  add_library(Adjoint::Adjoint ALIAS Adjoint)
  add_dependencies(Adjoint adjoint-headers ${libraries})
  target_compile_definitions(Adjoint PRIVATE ADJOINT_VERSION="${PROJECT_VERSION}")
  adjoint_use_precompiled_headers(Adjoint)
  set_target_properties(Adjoint PROPERTIES LINK_DEPENDS "${archives}"
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_link_options(Adjoint PRIVATE LINKER:--build-id LINKER:--whole-archive ${archives} LINKER:--no-whole-archive)
  # Compiled libraries call the functions of the libadrt.so that they name, in a process that has both.
  set(symbols "${CMAKE_CURRENT_BINARY_DIR}/Adjoint.map")
  file(CONFIGURE OUTPUT "${symbols}" CONTENT "{ global: *; local: adrt_*; };\n")
  set_property(TARGET Adjoint APPEND PROPERTY LINK_DEPENDS "${symbols}")
  target_link_options(Adjoint PRIVATE "LINKER:--version-script=${symbols}")
  if(NOT ADJOINT_SANITIZE)
    target_link_options(Adjoint PRIVATE LINKER:-z,defs)
  endif()
  list(TRANSFORM ADJOINT_SANITIZE PREPEND "-fsanitize=" OUTPUT_VARIABLE sanitizers)
  target_link_options(Adjoint INTERFACE ${sanitizers}) # for programs outside that link a sanitized library
  target_include_directories(Adjoint INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(Adjoint PUBLIC MLIR LLVM PRIVATE ${CMAKE_DL_LIBS})
  install(TARGETS Adjoint EXPORT AdjointTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# adjoint_tool(ad-foo main.cpp LINK_LIBS …): one program, linked twice. That of the build tree has the archives and
# starts in a third of the time, which tests do thousands of times; that of bin/shared is installed, and shares
# libAdjoint.so with the plug-in, the C API and Python (decision 0072).
function(adjoint_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name}-objects OBJECT ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name}-objects adjoint-headers)
  add_executable(${name} $<TARGET_OBJECTS:${name}-objects>)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} ADCompilerLibraries)
  add_executable(${name}-shared $<TARGET_OBJECTS:${name}-objects>)
  set_target_properties(${name}-shared PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/shared"
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  target_link_libraries(${name}-shared PRIVATE Adjoint)
  install(TARGETS ${name}-shared RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_property(GLOBAL APPEND PROPERTY ADJOINT_INSTALLED_TARGETS ${name}-shared)
endfunction()

# adjoint_plugin(Name a.cpp): a module that drivers of MLIR load, over libAdjoint.so.
function(adjoint_plugin name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "" INSTALL_RPATH "$ORIGIN")
  target_compile_definitions(${name} PRIVATE ADJOINT_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${name} PRIVATE Adjoint)
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set_property(GLOBAL APPEND PROPERTY ADJOINT_INSTALLED_TARGETS ${name})
endfunction()

# Headers and the CMake package, so that find_package(Adjoint) works from an installed prefix. The target
# adjoint-installed builds all that `cmake --install` needs, and no test.
function(adjoint_install_package)
  include(CMakePackageConfigHelpers)
  get_property(targets GLOBAL PROPERTY ADJOINT_INSTALLED_TARGETS)
  add_custom_target(adjoint-installed)
  add_dependencies(adjoint-installed adjoint-headers Adjoint ${targets})
  set(destination "${CMAKE_INSTALL_LIBDIR}/cmake/adjoint")
  list(GET MLIR_INCLUDE_DIRS 0 ADJOINT_MLIR_C_INCLUDE_DIR)
  configure_package_config_file(
    "${CMAKE_SOURCE_DIR}/cmake/modules/AdjointConfig.cmake.in" "${CMAKE_BINARY_DIR}/AdjointConfig.cmake"
    INSTALL_DESTINATION ${destination} PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
  write_basic_package_version_file("${CMAKE_BINARY_DIR}/AdjointConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  foreach(library IN ITEMS adjoint adrt)
    configure_file("${CMAKE_SOURCE_DIR}/cmake/modules/${library}.pc.in" "${CMAKE_BINARY_DIR}/${library}.pc" @ONLY)
    install(FILES "${CMAKE_BINARY_DIR}/${library}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  endforeach()
  install(FILES "${CMAKE_BINARY_DIR}/AdjointConfig.cmake" "${CMAKE_BINARY_DIR}/AdjointConfigVersion.cmake"
    DESTINATION ${destination})
  install(EXPORT AdjointTargets NAMESPACE Adjoint:: DESTINATION ${destination})
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/adjoint-c" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  # Documents with what they link to, at the same places.
  set(documents "${CMAKE_INSTALL_DATADIR}/doc/adjoint")
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/docs" DESTINATION ${documents} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg"
    PATTERN measurements EXCLUDE)
  install(FILES "${CMAKE_SOURCE_DIR}/examples/first.mlir" DESTINATION "${documents}/examples")
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/examples/c" "${CMAKE_SOURCE_DIR}/examples/how-do-i"
    DESTINATION "${documents}/examples")
  install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" DESTINATION "${documents}" RENAME copyright)
  install(DIRECTORY "${CMAKE_SOURCE_DIR}/test/Embedding/project" DESTINATION "${documents}/test/Embedding")
  foreach(root IN ITEMS "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
    install(DIRECTORY "${root}/include/adjoint" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
      FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN "*.def" PATTERN CMakeFiles EXCLUDE)
  endforeach()
endfunction()
