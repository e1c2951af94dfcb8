# How Zonal's code is compiled. The baseline is the compiler's own (x86-64 without AVX), so that one binary runs
# everywhere; the kernels pick wider instructions at run time through Highway, or have those of this machine.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_EXTENSIONS OFF)

# The compiler may not fuse a*b + c behind our back: GCC would do so wherever a target has FMA, so the same source
# would round differently per target and per flag. Kernels ask for FMA by name (docs/decisions/compile-flags.md).
# errno of the square root is never read, and setting it would keep loops from becoming vector code.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-fno-math-errno>"
                    "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;-Xcompiler=-ffp-contract=off;-diag-suppress=554>")

# Most of the time that kernels take to compile is that of several instruction sets.
set(ZONAL_TARGETS all CACHE STRING
    "Instruction sets of the kernels: all (the best is chosen at run time), or native (this machine's best alone)")
set_property(CACHE ZONAL_TARGETS PROPERTY STRINGS all native)
if(ZONAL_TARGETS STREQUAL "native")
  if(CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "ZONAL_TARGETS = native: must be all when compiling for another machine")
  endif()
  if(NOT DEFINED ZONAL_ONLY_TARGET)
    try_run(ZONAL_BEST_TARGET_STATUS compiled SOURCES ${PROJECT_SOURCE_DIR}/cmake/best_target.cpp
            CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/src LINK_LIBRARIES PkgConfig::ZONAL_HWY
            COMPILE_OUTPUT_VARIABLE errors RUN_OUTPUT_VARIABLE best)
    if(NOT ZONAL_BEST_TARGET_STATUS EQUAL 0)
      message(FATAL_ERROR "ZONAL_TARGETS = native: Highway does not say what this machine has; use all\n${errors}${best}")
    endif()
    set(ZONAL_ONLY_TARGET ${best} CACHE INTERNAL "Highway's name of this machine's best instruction set")
  endif()
  message(STATUS "Kernels for ${ZONAL_ONLY_TARGET} alone (ZONAL_TARGETS=native)")
  add_compile_definitions($<$<COMPILE_LANGUAGE:CXX>:ZONAL_ONLY_TARGET=${ZONAL_ONLY_TARGET}>)
elseif(NOT ZONAL_TARGETS STREQUAL "all")
  message(FATAL_ERROR "ZONAL_TARGETS = ${ZONAL_TARGETS}: must be all or native")
endif()

# For code outside of hot loops: two thirds of the time of -O3 to compile. Nothing where somebody else chose the level.
if(CMAKE_CXX_FLAGS_RELEASE MATCHES "-O3")
  set(ZONAL_COLD_CODE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:$<$<CONFIG:Release>:-O1>>)
  # For the tool and the Python package's extension, which hand on what they are given: three quarters of -O1's or -Os's.
  set(ZONAL_GLUE_CODE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:$<$<CONFIG:Release>:-Og>>)
  set(ZONAL_HOT_CODE $<$<CONFIG:Release>:-O3>)  # for sources among such code
endif()

# A unity build compiles several sources in one translation unit and takes half of the time (zonal_io and the tool are
# always built so, everything with -DCMAKE_UNITY_BUILD=ON). Sources that Highway includes once for each instruction set
# stay apart.
function(zonal_keep_simd_sources_apart)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} found REGEX "hwy/foreach_target" LIMIT_COUNT 1)
    if(found)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=address,undefined")
        # Where accesses are too many to compile in place, they are checked by calls.
        if(source MATCHES "/legendre_cpu.cpp$")
          set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                                      "-mllvm;-asan-instrumentation-with-call-threshold=0")
        endif()
      endif()
    endif()
  endforeach()
endfunction()

# Makes what is linked here run on older systems (ZONAL_FOR_OLD_GLIBC), for each library and program that goes there.
if(ZONAL_FOR_OLD_GLIBC)
  add_library(zonal_old_glibc OBJECT ${PROJECT_SOURCE_DIR}/cmake/old_glibc.cpp)
  set_target_properties(zonal_old_glibc PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
endif()
function(zonal_link_for_old_glibc target)
  if(ZONAL_FOR_OLD_GLIBC)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:zonal_old_glibc>)
    target_link_options(${target} PRIVATE LINKER:--wrap=hypot
                        LINKER:--wrap=_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE)
  endif()
endfunction()

# zonal_add_library(target export_name source...): what the project's libraries have in common. Consumers link
# zonal::<export_name>.
function(zonal_add_library target export_name)
  add_library(${target} ${ARGN})
  set(sources ${ARGN})
  list(FILTER sources EXCLUDE REGEX "TARGET_OBJECTS")
  zonal_keep_simd_sources_apart(${sources})
  add_library(zonal::${export_name} ALIAS ${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                       PRIVATE ${PROJECT_SOURCE_DIR}/src)
  zonal_warnings(${target})
  # While the major version is 0, every minor version may break the binary interface.
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${export_name} POSITION_INDEPENDENT_CODE ON DEFINE_SYMBOL "" SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    INSTALL_RPATH "$ORIGIN")  # zonal_io finds the zonal beside it
  if(NOT SKBUILD)
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION})
  endif()
  if(BUILD_SHARED_LIBS AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    # Exports our own names and not the templates of fmt and the standard library that we instantiate.
    set(script ${PROJECT_SOURCE_DIR}/cmake/exported_symbols.map)
    # It must not be unloaded, as threads that sleep between calls run its code (docs/decisions/parallel.md).
    target_link_options(${target} PRIVATE LINKER:--version-script=${script} LINKER:-z,nodelete
                        $<$<CXX_COMPILER_ID:GNU>:LINKER:--no-undefined>)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
    zonal_link_for_old_glibc(${target})
  endif()
  zonal_install_library(${target})
endfunction()

# Warnings for our own code only; errors where we test, not where others build. Options are set by designated
# initialisers, where a member that is left out has its default. GCC 12 sees overlapping and oversized copies in
# string concatenations where there are none (GCC bug 105651); in unity builds it takes sources for headers, where
# anonymous namespaces would be a mistake.
function(zonal_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-missing-field-initializers
      $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-stringop-overflow $<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-Wno-subobject-linkage>>
      $<$<BOOL:${ZONAL_WARNINGS_AS_ERRORS}>:-Werror>>)
endfunction()
