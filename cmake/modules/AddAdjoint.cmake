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

# MLIR and LLVM, as programs of this build link them: the members of their archives that a program uses. The shared
# libraries have 350,000 relocations, which take 40 ms before `main`. They are for programs outside that link an installed
# library, for targets with the property ADJOINT_SHARED_LLVM, and for sanitized builds, where code that is instrumented
# and code that is not would else share the inline functions of LLVM.
add_library(ADCompilerLibraries INTERFACE)
if(ADJOINT_STATIC_LLVM AND NOT ADJOINT_SANITIZE)
  file(GLOB archives "${LLVM_LIBRARY_DIR}/libMLIR*.a" "${LLVM_LIBRARY_DIR}/libLLVM*.a")
  list(FILTER archives EXCLUDE REGEX "/libMLIRCAPI")
  # By the names that libLLVM.so asks for: they are wherever it is, with or without the headers of zlib and zstd.
  list(APPEND archives -l:libz.so.1 -l:libzstd.so.1 ${CMAKE_DL_LIBS})
  set(shared "$<BOOL:$<TARGET_PROPERTY:ADJOINT_SHARED_LLVM>>")
  target_link_libraries(ADCompilerLibraries INTERFACE "$<IF:${shared},MLIR;LLVM,${archives}>")
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
  add_library(Adjoint::${name} ALIAS ${name})
  add_dependencies(${name} adjoint-headers)
  target_include_directories(${name} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS}
    $<BUILD_INTERFACE:ADCompilerLibraries> $<INSTALL_INTERFACE:MLIR> $<INSTALL_INTERFACE:LLVM>)
  adjoint_plant_faults(${name} MLIR)
  adjoint_use_precompiled_headers(${name})
  list(TRANSFORM ADJOINT_SANITIZE PREPEND "-fsanitize=" OUTPUT_VARIABLE sanitizers)
  target_link_options(${name} INTERFACE ${sanitizers}) # for programs outside that link a sanitized library
  install(TARGETS ${name} EXPORT AdjointTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set_property(GLOBAL APPEND PROPERTY ADJOINT_LIBRARIES ${name})
endfunction()

# adjoint_plain_library(ADFoo a.cpp [LINK_LIBS …]): one static library that needs neither libLLVM nor libMLIR. Of LLVM
# it may use the support library, which the program that links it brings along, shared or static.
function(adjoint_plain_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(Adjoint::${name} ALIAS ${name})
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # A program that runs without LLVM has the functions that it calls, and no others of their files.
  target_compile_options(${name} PRIVATE -fno-exceptions -ffunction-sections -fdata-sections)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  adjoint_plant_faults(${name})
  install(TARGETS ${name} EXPORT AdjointTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
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
  set_property(GLOBAL APPEND PROPERTY ADJOINT_TOOLS ${name})
endfunction()

# adjoint_tool(ad-foo main.cpp LINK_LIBS …): one installed program. The target adjoint-shared-tools makes those of a
# wheel, in bin/shared: they share the libraries of MLIR and LLVM that the Python module needs anyway.
function(adjoint_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_executable(${name}-shared EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name}-shared PROPERTIES ADJOINT_SHARED_LLVM ON
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/shared")
  foreach(program IN ITEMS ${name} ${name}-shared)
    add_dependencies(${program} adjoint-headers)
    target_link_libraries(${program} PRIVATE ${ARG_LINK_LIBS} ADCompilerLibraries)
  endforeach()
  add_dependencies(adjoint-shared-tools ${name}-shared)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_property(GLOBAL APPEND PROPERTY ADJOINT_TOOLS ${name})
endfunction()
add_custom_target(adjoint-shared-tools)

# Headers and the CMake package, so that find_package(Adjoint) works from an installed prefix. The target
# adjoint-installed builds all that `cmake --install` needs, and no test.
function(adjoint_install_package)
  include(CMakePackageConfigHelpers)
  get_property(libraries GLOBAL PROPERTY ADJOINT_LIBRARIES)
  get_property(tools GLOBAL PROPERTY ADJOINT_TOOLS)
  add_custom_target(adjoint-installed)
  add_dependencies(adjoint-installed adjoint-headers ${libraries} ${tools})
  set(destination "${CMAKE_INSTALL_LIBDIR}/cmake/adjoint")
  configure_package_config_file(
    "${CMAKE_SOURCE_DIR}/cmake/modules/AdjointConfig.cmake.in" "${CMAKE_BINARY_DIR}/AdjointConfig.cmake"
    INSTALL_DESTINATION ${destination})
  write_basic_package_version_file("${CMAKE_BINARY_DIR}/AdjointConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${CMAKE_BINARY_DIR}/AdjointConfig.cmake" "${CMAKE_BINARY_DIR}/AdjointConfigVersion.cmake"
    DESTINATION ${destination})
  install(EXPORT AdjointTargets NAMESPACE Adjoint:: DESTINATION ${destination})
  foreach(root IN ITEMS "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
    install(DIRECTORY "${root}/include/adjoint" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
      FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN "*.def")
  endforeach()
endfunction()
