#!/usr/bin/env bash
# Cross-compiles the libraries for 64-bit ARM and runs their C++ tests under qemu, on two processors: one with NEON alone and
# one with SVE, too. On Debian 12, with the network.
#
# tools/arm64_check.sh [BUILD [FILTER]]: BUILD is the build's folder (default build-arm64), FILTER is for GoogleTest
# (default: all tests but those that are named below).
# Environment: JOBS, how many compilers run at once (default: as many as there are CPUs).
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath -m "${1:-build-arm64}")
packages=$build/packages

. tools/arm64_packages.sh
unpack_arm64 "$packages" libgtest-dev libgmock-dev

cmake --preset release -B "$build" --toolchain cmake/aarch64.cmake -DZONAL_ARM64_PACKAGES="$packages/root" \
    -DZONAL_STATIC_CFITSIO=ON -DZONAL_WITH_CLI=OFF -DZONAL_WITH_BENCH=OFF -DZONAL_WITH_EXAMPLES=OFF \
    -DZONAL_WARNINGS_AS_ERRORS=ON -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)"
cmake --build "$build" -j "${JOBS:-$(nproc)}" --target zonal_unit_tests zonal_property_tests

# Left out, as each did not end in time under emulation: in two or three seconds on two busy
# cores, those of zonal_property_tests in 20. Many compare with sums in long double, which ARM has no
# instructions for. FILTER runs them, too ('*' runs all).
slow='
    AliasedSpectrum.IsAboveWhatPixelsAliasAndNotFarAbove Analysis.KeepsTheBestThatADivergingSolverSaw
    AnalysisNorm.BoundsWhatIterationsLeave Angles/RotationBy.IsUndoneByItsInverse/0
    Angles/RotationBy.IsUndoneByItsInverse/1 Angles/RotationBy.IsUndoneByItsInverse/2
    Angles/RotationBy.IsUndoneByItsInverse/3 Angles/RotationBy.IsUndoneByItsInverse/4
    Angles/RotationBy.IsUndoneByItsInverse/5 Angles/RotationBy.IsUndoneByItsInverse/6
    Angles/RotationBy.IsUndoneByItsInverse/7 BasisWindows.AgreeWithSimpsonsRule
    CertifiedPlans.ConvolvePlansAgainAndRefusesWhatItCannotKeep CertifiedPlans.EveryWayThatMayBeTakenIsCertified
    CertifiedPlans.HarmonicSpaceGoesAsFarAsTheKernel ChebyshevProductByFft.*
    ChordTable.HoldsOscillatingKernelsOverTheWholeSphere ColleagueMatrix.HasTheEigenvaluesThatTheHostFinds
    ComplexFft.MatchesThePlainSumForEveryLengthTo300 ComplexFft.MatchesThePlainSumForLargeLengths
    ConvolutionPlan.HarmonicSpaceWithoutIterationsIsTheDirectSum ConvolutionPlan.SplitsKeepTheErrorOfTheRequest
    ConvolutionPlan.SumsOverPixelsAreTheDirectSumOfTheCutKernel DirectPixelSum.InSinglePrecisionIsRightToIt
    DirectPixelSum.OfOneFieldIsTheCpusBetweenAnyGrids DirectPixelSum.OfQAndUIsTheCpusBetweenAnyGrids DiscDiscrepancy.*
    DistributedConvolution.FindsWhatOneProcessFinds DistributedTransforms/0.GiveTheBitsOfOneProcessOnHealpix
    DistributedTransforms/0.GiveThemForBatchesAndPartsOfFields
    DistributedTransforms/0.GiveThemOnOtherGridsAndPartsOfTheSky
    DistributedTransforms/1.GiveTheBitsOfOneProcessOnHealpix DistributedTransforms/1.GiveThemForBatchesAndPartsOfFields
    DistributedTransforms/1.GiveThemOnOtherGridsAndPartsOfTheSky ErrorBound.HoldsForCounts ErrorBound.HoldsForQAndU
    ErrorBound.HoldsForQuotientsOfMaskedMaps ErrorBound.HoldsForSplits ErrorBound.HoldsForSumsOverPixels
    ErrorBound.HoldsForWindowsThatEndBeforeTheKernel FindLCut.ReturnsOneThatPassesAndNoneOfItsNeighbourhoodBelow
    GaussLegendre.NodesAndWeightsAreRightToRounding GwrmBoundary.TakesBothAxesOfAPlane
    GwrmEstimate.HoldsForEveryFieldThroughChaos GwrmEstimate.HoldsWhereErrorsFade GwrmLibrary.AdvectedGaussianIsExact
    GwrmLibrary.SolitonKeepsItsShape GwrmLibrary.ViscosityAsDimensionAgreesWithSingleViscosities
    GwrmReference.BurgersReachesTwelveDigits GwrmReference.OneBoxOfBurgersNeedsFiveStepsAndReachesItsOrder
    GwrmSolvers.AgreeOnEveryBuiltInProblem GwrmSubdomains.* GwrmTraffic.*
    HealpixBatch.HasTheSameResultsWithThreadsStridesAndInPlace HealpixPixelWindow.ComesFromFewPixelsOfMany
    HealpixPixelWindow.DoesNotDependOnThreads HealpixPixelWindow.OfManyPixelsTendsToAFunctionOfTheShareOfNside
    HealpixRegion.OfADiscHoldsThePixelsInsideAndMissesNoneThatOverlaps
    HealpixRegion.OfAPolygonHoldsThePixelsInsideAndMissesNoneThatOverlaps KernelNorms.AreTheRowSumsOfNarrowTails
    KernelNorms.BoundQAndU KernelNorms.BoundTheTrueNormOfAnyPart KernelSplit.ASmoothKernelOfSmallSupportNeedsNoWindow
    KernelSplit.ActualErrorIsThatOfWindowAndProfile KernelSplit.DoesNotDependOnThreads KernelSplit.IsExactUpToLCut
    KernelSplit.OfQAndUIsExactUpToLCutAndWithinItsEstimateAbove KernelSplitter.LeakageIsAllThatTheProfileHasAboveLmax
    KernelSplitter.ReportsItsProgressAndStopsWhereItIsTold KernelWindow.OfAGaussianProfileIsItsWindow
    KernelWindow.OfALineInCosThetaHasTwoDegrees LargestEigenvalue.* LatitudeBands.GiveTheConvolutionOfSomeRings
    LatitudeBands.GiveTheConvolutionOfTheWhole LegendreStage.HighDegreesMatchLongDouble
    MapSmoothing.EachRowMayHaveAKernelOfItsOwn MapSmoothing.ErrorsOfHostileMapsAreBelowTheirCertificate
    MapSmoothing.EveryMethodKeepsItsErrorFromTheDirectSum MapSmoothing.IntensityAndPolarizationArePlannedApart
    MapSmoothing.PlansAgainWhereTheKernelLeavesLittleOfTheMap MapSmoothing.RefusesWhatItCannotKeepOrDo
    MapSmoothing.ReturnsNoMapWhoseErrorIsNotCertifiedUnlessAskedTo MaskedConvolution.IsTheRatioOfDirectSums
    Methods/ChebyshevProduct.OfLargeSeriesIsTheSameOnAnyNumberOfThreads/Direct
    Methods/ChebyshevProduct.OfStridedBatchesInPlaceMatchesOneByOneOnAnyNumberOfThreads/Direct
    PixelSum.CountsPixelsAtTheEdgeOfTheSupportAsInside PixelSum.DoesNotDependOnThreadsOrOnTheBatch
    PixelSum.InSinglePrecisionIsRightToIt PixelSum.IsTheDirectSumFromOneGridToAnother
    PixelSum.IsTheDirectSumOnEveryKindOfHealpixRing PixelSum.IsTheDirectSumOnOtherGrids
    PixelSum.IsTheDirectSumOnRingsOfAnyLengthAndShift PixelSum.IsTheDirectSumOnSmallHealpixGridsForAnySupport
    PixelSum.SpreadsAPointAsTheKernelsProfile PixelSum.TakesTheAntipodalPixelOfWholeRings
    PlanConvolution.CutsKeepTheIntegral PlanConvolution.NarrowKernelsGoToPixelSpaceAndWideOnesToHarmonicSpace
    PlanConvolution.SinglePrecisionOnlyWhereTheErrorPermits PlanConvolution.SplitsKeepTheBound
    PlanConvolution.SplitsKernelsThatAreCompactNowhere PlanPolarization.ErrorsAreThoseFromTheDirectSum
    PlanPolarization.ErrorsAreWithinTheBoundWhereEAndBHaveOtherWindows PlanPolarization.ErrorsOfAllWaysAreWithinTheBound
    PlanPolarization.KernelsOfFewPixelsGoToPixelSpace PlanPolarization.SpectraOfEAndBWeighTheErrors
    PlanPolarization.SplitsKeepTheBound PlanPolarization.TakesTheCostsOfPolarization
    PolarizationRingFft.AgreesWithSumsOverDiscsAtNside128 PolarizationRingFft.DoesNotDependOnThreadsOrOnTheBatch
    PolarizationRingFft.IsTheHarmonicSumForWindowsOfEAndB PolarizationRingFft.KeepsDeltaFunctionsInTheirDisc
    PolarizationRingFft.LeavesRingsToDiscsWhereTheSeriesDoesNotConverge
    PolarizationRingFft.MatchesDirectSumAroundThePolesAndTheCapsEdges
    PolarizationRingFft.MatchesDirectSumBetweenSubsetsOfRings PolarizationRingFft.MatchesDirectSumForGaussiansOfAnyWidth
    PolarizationRingFft.MatchesDirectSumForOscillatingKernelsOverTheWholeSphere
    PolarizationRingFft.MatchesDirectSumForRingsAtAnyLongitude PolarizationRingFft.MatchesDirectSumOnEveryGrid
    PolarizationRingFft.NeedsNoSeriesBetweenRingsOfOneLength PolarizationRingFft.TransformsLongRows
    PolarizationSum.IsTheDirectSumForTruncatedKernels PolarizationSum.IsTheHarmonicSumForWindowsOfEAndB
    PolarizationSum.IsTheHarmonicSumWhereWeightsComeFromTables PolarizationTruncation.CostsWhatWhiteNoiseIsWrongBy
    PolarizationTruncation.SupportsKeepTheError Quadrature.EquidistantWeightsKeepRelativePrecisionAtThePolesForN16384
    ResampledTransforms.AgreeWithThoseOnAllRings RingFft.AgreesWithSumsOverDiscsOnFineGrids
    RingFft.CoarserAccuracyKeepsItsBound RingFft.MatchesDirectSumBetweenSubsetsOfRings
    RingFft.MatchesDirectSumForGaussiansOfAnyWidth RingFft.MatchesDirectSumForOscillatingKernelsOverTheWholeSphere
    RingFft.MatchesDirectSumForRingsAtAnyLongitude RingFft.MatchesDirectSumOnEveryGrid
    RingFft.MatchesDirectSumWhereTheSeriesDoesNotConverge RingFft.SinglePrecisionStaysWithinItsBound
    RingFft.SupportBelowAPixelLeavesEachPixelAlone RingFft.TransformsLongRows RingFft.WideKernelsNeedFewModes
    RingFftSchedule.GroupsMakeTheSumsOfTheirRows RingFftSchedule.GroupsMakeTheSumsOfTheirRowsOfQAndU
    Rotation.OfDegree1024IsAccurate Sht.OrdersThatStartBelowTheRangeOfDoubleKeepTheirDigits
    Sht.SpinAsLargeAsLmaxMatchesReference Sht.SpinTwoHarmonicsAreThoseOfTheTextbook
    Sht/OnEveryGrid.TransformMatchesReference/ClenshawCurtisWithPoles
    Sht/OnEveryGrid.TransformMatchesReference/EqualLatitudes Sht/OnEveryGrid.TransformMatchesReference/Equator
    Sht/OnEveryGrid.TransformMatchesReference/EquidistantCylindrical Sht/OnEveryGrid.TransformMatchesReference/Fejer1
    Sht/OnEveryGrid.TransformMatchesReference/Fejer2 Sht/OnEveryGrid.TransformMatchesReference/GaussLegendre
    Sht/OnEveryGrid.TransformMatchesReference/GaussLegendreOfManyRings
    Sht/OnEveryGrid.TransformMatchesReference/HealpixNside3 Sht/OnEveryGrid.TransformMatchesReference/HealpixNside8
    Sht/OnEveryGrid.TransformMatchesReference/LargePrimes Sht/OnEveryGrid.TransformMatchesReference/MirrorImages
    Sht/OnEveryGrid.TransformMatchesReference/NearPoles Sht/OnEveryGrid.TransformMatchesReference/OnlySouth
    Sht/OnEveryGrid.TransformMatchesReference/Unsorted Sht/OnEveryGrid.TransformMatchesReference/UnusualFirstLongitudes
    Sht/TransformOfSpin.* ShtAdjoint.IsTheTransposeAtHighDegrees ShtRoundTrip.IsExactOnGaussLegendreRings
    ShtRoundTrip.LargeOnGaussLegendreRings ShtThreadsOfBands.* Simd/OnEveryTarget.FftMatchesThePlainSum/*
    Simd/OnEveryTarget.TransformMatchesReference/* SplineProfile.IsAKernelOfTheSameProfileAndWindow SplitConvolution/0.*
    SplitConvolution/1.* SupportForError.IsTheSmallestThatKeepsTheBound Targets/ChebyshevOnEveryTarget.*
    Targets/EveryTargetSumsPixels.* Targets/HealpixBatchSurroundings.InterpolationWeightsAreAsDefined/*
    Targets/HealpixBatches.FindThePixelsOfVectorsThatTheScalarFunctionFinds/* Targets/HealpixRegions.*
    WignerMatrix.IsAccurateAtDegree4096
'
set -f  # the names have asterisks
# shellcheck disable=SC2086  # a list of words
slow=$(echo $slow | tr ' ' ':')
set +f
tests=${2:-*-$slow}

# check PROCESSOR PROGRAM FILTER [OPTION OF QEMU...]
check() {
    echo "== $2 on $1: $3"
    nice -n 10 qemu-aarch64-static -L /usr/aarch64-linux-gnu -cpu "$1" "${@:4}" "$build/bin/$2" --gtest_brief=1 \
        --gtest_filter="$3"
}
check cortex-a72 zonal_unit_tests "$tests"
check cortex-a72 zonal_property_tests "$tests"
# The same code, as Zonal does not use SVE: NEON is chosen where there is SVE, too.
check max,sve256=on zonal_unit_tests 'SimdTargets.*:*OnEveryTarget.Start*'
# Nor does it use the instructions for AES, which some processors lack. qemu has none of those, but getauxval can say so.
cat >"$build/no_aes.c" <<END
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/auxv.h>
unsigned long getauxval(unsigned long type) {
    unsigned long (*next)(unsigned long) = dlsym(RTLD_NEXT, "getauxval");
    return next(type) & ~(type == AT_HWCAP ? HWCAP_AES : 0UL);
}
END
aarch64-linux-gnu-gcc -shared -fPIC "$build/no_aes.c" -o "$build/no_aes.so"
check cortex-a72 zonal_unit_tests 'SimdTargets.*:*OnEveryTarget.Start*' -E LD_PRELOAD="$build/no_aes.so"
echo "all passed: $tests"
