#include "pipeline.h"

#include <gtest/gtest.h>

namespace {

using namespace pipeline;

TEST(Pipeline, PiecesCoverTheArray) {
    std::size_t next = 0;
    for (std::size_t p = 0; p < 4; ++p) {
        const Piece piece = pieceOf(10, 4, p);
        EXPECT_EQ(piece.begin, next);
        EXPECT_TRUE(piece.size == 2 || piece.size == 3) << p;
        next += piece.size;
    }
    EXPECT_EQ(next, 10u);
    EXPECT_EQ(pieceOf(3, 3, 2).begin, 2u);
    EXPECT_EQ(pieceOf(3, 3, 2).size, 1u);
}

// Three pieces in two streams. Only when they ended is known.
Spans threePieces() {
    Spans spans;
    spans[kIn] = {{0, 10}, {0, 20}, {0, 45}};
    spans[kKernel] = {{0, 18}, {0, 28}, {0, 53}};
    spans[kOut] = {{0, 30}, {0, 42}, {0, 65}};
    return spans;
}

TEST(Pipeline, AnOperationBeginsWhenPieceAndStageAreFree) {
    Spans spans = threePieces();
    setBegins(spans);
    const double in[] = {0, 10, 20}, kernel[] = {10, 20, 45}, out[] = {18, 30, 53};
    for (std::size_t p = 0; p < 3; ++p) {
        EXPECT_EQ(spans[kIn][p].begin, in[p]) << p;
        EXPECT_EQ(spans[kKernel][p].begin, kernel[p]) << p;
        EXPECT_EQ(spans[kOut][p].begin, out[p]) << p;
    }
}

TEST(Pipeline, AllPiecesWaitForTheOneCopy) {
    Spans spans = threePieces();
    spans[kIn] = {{0, 12}};
    setBegins(spans);
    EXPECT_EQ(spans[kIn][0].begin, 0);
    EXPECT_EQ(spans[kKernel][0].begin, 12);
    EXPECT_EQ(spans[kKernel][1].begin, 18);
    EXPECT_EQ(wrongOrder(spans, 3), "");
    spans[kIn][0].end = 19;
    EXPECT_EQ(wrongOrder(spans, 3),
              "the copy in of piece 0 ended at 19.0000 ms, the kernel of piece 0 at 18.0000 ms");
}

TEST(Pipeline, NoOperationBeginsBehindItsEnd) {
    Spans spans = threePieces();
    spans[kKernel][1].end = 17;  // before the kernel of piece 0, in another stream
    setBegins(spans);
    EXPECT_EQ(spans[kKernel][1].begin, 17);
}

TEST(Pipeline, APieceMayOvertakeOneOfAnotherStream) {
    Spans spans = threePieces();
    spans[kIn][0].end = 3;
    spans[kIn][1].end = 2;
    setBegins(spans);
    EXPECT_EQ(spans[kIn][1].begin, 0);
    EXPECT_EQ(spans[kIn][0].begin, 2);  // which was overtaken
    EXPECT_EQ(spans[kIn][2].begin, 3);
}

TEST(Pipeline, StagesOfAPieceFollowOneAnother) {
    EXPECT_EQ(wrongOrder(threePieces(), 2), "");
    EXPECT_EQ(wrongOrder(threePieces(), 3), "");
    Spans spans = threePieces();
    spans[kKernel][1].end = 19;
    EXPECT_EQ(wrongOrder(spans, 2),
              "the copy in of piece 1 ended at 20.0000 ms, the kernel of piece 1 at 19.0000 ms");
    spans = threePieces();
    spans[kOut][2].end = 52;
    EXPECT_EQ(wrongOrder(spans, 2),
              "the kernel of piece 2 ended at 53.0000 ms, the copy out of piece 2 at 52.0000 ms");
}

TEST(Pipeline, PiecesOfAStreamFollowOneAnother) {
    Spans spans = threePieces();
    spans[kIn][2].end = 9;
    EXPECT_EQ(wrongOrder(spans, 3), "");
    EXPECT_EQ(wrongOrder(spans, 2),
              "the copy in of piece 0 ended at 10.0000 ms, the copy in of piece 2 at 9.0000 ms");
    spans = threePieces();
    spans[kOut][1].end = 29;
    EXPECT_EQ(wrongOrder(spans, 2), "");
    EXPECT_EQ(wrongOrder(spans, 1),
              "the copy out of piece 0 ended at 30.0000 ms, the copy out of piece 1 at 29.0000 ms");
    const Way way = Way("").inPieces(4).inStreams(2);
    const Way byStage = Way("").stagesAtATime(4).inPieces(4).inStreamsByStage();
    EXPECT_EQ(way.apart(), 2u);
    EXPECT_EQ(byStage.apart(), 1u);
}

TEST(Pipeline, StreamsTakeTurnsOrHaveAStageEach) {
    const Way way = Way("").inPieces(4).inStreams(2);
    const Way byStage = Way("").stagesAtATime(4).inPieces(4).inStreamsByStage();
    EXPECT_EQ(way.streamOf(kIn, 3), 1u);
    EXPECT_EQ(way.streamOf(kOut, 2), 0u);
    EXPECT_EQ(byStage.streamOf(kIn, 3), 0u);
    EXPECT_EQ(byStage.streamOf(kOut, 2), 2u);
}

TEST(Pipeline, AStageByItselfHasNoOrder) {
    Spans spans;
    spans[kIn] = {{0, 5}};
    spans[kOut] = {{0, 3}};
    setBegins(spans);
    EXPECT_EQ(wrongOrder(spans, 1), "");
}

Alone alone() {
    Alone times;
    times.in = 8, times.kernel = 12, times.out = 10, times.bothWays = 11, times.host = 6;
    times.pageableIn = 40, times.pageableOut = 30;
    return times;
}

Way cut(unsigned pieces, unsigned streams, unsigned stagesAtATime) {
    return Way("").stagesAtATime(stagesAtATime).inPieces(pieces).inStreams(streams);
}

TEST(Pipeline, OneAfterTheOtherIsTheSum) {
    EXPECT_EQ(predicted(Way("serial"), alone()).bound, 36);
    EXPECT_EQ(predicted(Way("serial"), alone()).time, 36);
}

TEST(Pipeline, TheLongestStageIsTheBound) {
    Alone times = alone();
    EXPECT_EQ(predicted(cut(4, 4, 2), times).bound, 8 + 12 + 6);
    EXPECT_EQ(predicted(cut(4, 4, 3), times).bound, 12 + 6);
    EXPECT_EQ(predicted(cut(4, 4, 4), times).bound, 12);
    EXPECT_EQ(predicted(cut(4, 4, 3).only({kIn, kKernel, kOut}), times).bound, 12);
    times.kernel = 9;
    EXPECT_EQ(predicted(cut(4, 4, 4), times).bound, 11);  // both copies
    times.host = 13;
    EXPECT_EQ(predicted(cut(4, 4, 4), times).bound, 13);
    EXPECT_EQ(predicted(cut(4, 4, 2), times).bound, 8 + 10 + 13);  // only one copy overlaps
}

TEST(Pipeline, TheFirstPieceGoesThroughAllThenOneComesInEachTurn) {
    const Alone times = alone();
    EXPECT_EQ(predicted(cut(1, 4, 3), times).time, 36);
    EXPECT_EQ(predicted(cut(4, 4, 4), times).time, 36. / 4 + 3 * 12. / 4);
    EXPECT_EQ(predicted(cut(4, 4, 3), times).time, 30. / 4 + 3 * 12. / 4 + 6);
    EXPECT_EQ(predicted(cut(4, 4, 2), times).time, 8 + 22. / 4 + 3 * 12. / 4 + 6);
}

TEST(Pipeline, AStreamHasOnePieceAtATime) {
    const Alone times = alone();
    EXPECT_EQ(predicted(cut(4, 1, 3), times).time, 36);
    EXPECT_EQ(predicted(cut(5, 2, 3), times).time, 3 * 30. / 5 + 6);
    EXPECT_EQ(predicted(cut(4, 2, 3), times).time, 2 * 30. / 4 + 12. / 4 + 6);
    EXPECT_EQ(predicted(cut(2, 2, 3), times).time, 30. / 2 + 12. / 2 + 6);  // nothing to wait for
    EXPECT_EQ(predicted(cut(4, 2, 2), times).time, 8 + 22. / 4 + 2 * 12. / 4 + 12. / 4 + 6);
    EXPECT_EQ(predicted(cut(4, 3, 3), times).time, 30. / 4 + 3 * 12. / 4 + 6);
    EXPECT_EQ(predicted(cut(4, 1, 3).inStreamsByStage(), times).time, 30. / 4 + 3 * 12. / 4 + 6);
}

TEST(Pipeline, EachCopyOfAPieceCostsSomething) {
    Alone times = alone();
    times.kernel = 9, times.perPiece = 0.25;
    EXPECT_EQ(predicted(cut(4, 4, 4), times).time, 33. / 4 + 0.5 + 3 * (11. / 4 + 0.25));
    EXPECT_EQ(predicted(cut(4, 1, 3), times).time, 4 * (27. / 4 + 0.5) + 6);
    EXPECT_EQ(predicted(cut(4, 4, 2), times).time, 8 + 19. / 4 + 0.25 + 3 * (10. / 4 + 0.25) + 6);
    times.kernel = 16;  // whose pieces cost nothing more
    EXPECT_EQ(predicted(cut(4, 4, 4), times).time, 40. / 4 + 0.5 + 3 * 16. / 4);
}

TEST(Pipeline, CopiesOfPageableMemoryOverlapWithNothing) {
    const Way way = cut(4, 4, 3).pageable();
    EXPECT_EQ(predicted(way, alone()).bound, 70 + 6);
    EXPECT_EQ(predicted(way, alone()).time, 88);
}

}  // namespace
