// @module-tag long
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { addTokens } from "@reprise/protocol"
import { Effect } from "effect"
import { gateEvents, runEvents, workEvents } from "../harness/eventLines.ts"
import { commits, needsHuman, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const fabricated = "deadbeef".repeat(5)

const verdictWith = (...items: ReadonlyArray<readonly [id: string, action: "auto_fix" | "human_required"]>) => ({
  report: {
    readiness: "not_ready",
    items: items.map(([id, action]) => ({ id, title: `Title of ${id}`, action, reason: "it matters", priority: "P1" }))
  }
})

const author = (phase: number) => ({ role: "author", kind: "work", phase }) as const
const report = (phase: number) => ({ role: "author", kind: "report", phase }) as const
const verdict = (phase: number) => ({ role: "reviewer", kind: "report", phase }) as const

const story = script(
  once(author(1), commits("broken.txt", "work")),
  once(author(1), commits("attempt.txt", "of no use")),
  once(author(1), [
    { bash: "git rm -q broken.txt && git commit -q -m 'Fix it' && git rev-parse HEAD" },
    { text: "The gate passes now." }
  ]),
  once(report(2), { report: { result: "complete", commit: fabricated } }),
  once({ ...author(2), lastUser: "was rejected" }, { text: "I shall report the hash that git prints." }),
  once(author(3), [
    { bash: "printf '\\n## Phase 6: Six\\n\\n- [ ] Write it\\n' >> PLAN.md" },
    {
      bash: "echo work > phase-3.txt && git add -A && git commit -q -m 'Write phase-3.txt, plan one more' && git rev-parse HEAD"
    },
    { text: "The plan lacked a phase; it is the sixth now." }
  ]),
  once(verdict(3), verdictWith(["R1", "auto_fix"], ["R2", "auto_fix"])),
  once(verdict(4), verdictWith(["H1", "human_required"], ["R3", "auto_fix"])),
  once(report(5), needsHuman("The tests need a key that I do not have."))
)

/** The remaining steps of a phase that meets no further problem. */
const approved = (phase: number, review = 1) => [
  `${phase} StepStarted REVIEW gates-passed ${review}`,
  `${phase} StepStarted PHASE_GATE verdict-ready 1`,
  `${phase} StepStarted PHASE_COMPLETE tree-clean 1`,
  `${phase} PhaseCompleted PHASE_COMPLETE review`
]
const begun = (phase: number) => [`${phase} PhaseStarted`, `${phase} StepStarted EXECUTE phase-started 1`]
const checked = (phase: number) => `${phase} StepStarted QUALITY_CHECK work-verified 1`

const whatTheRunDid = [
  "RunStarted",
  "StepStarted PREPARE run-started 1",
  ...begun(1),
  checked(1),
  "1 StepStarted QUALITY_RETRY gates-failed 1",
  "1 StepStarted QUALITY_CHECK fixed 2",
  "1 StepStarted QUALITY_RETRY gates-failed 2",
  "1 StepStarted QUALITY_CHECK fixed 3",
  ...approved(1),
  ...begun(2),
  checked(2),
  ...approved(2),
  ...begun(3),
  checked(3),
  "3 StepStarted REVIEW gates-passed 1",
  "3 StepStarted AUTO_FIX items-to-fix 1",
  "3 StepStarted QUALITY_CHECK fixed 2",
  ...approved(3, 2),
  ...begun(4),
  checked(4),
  "4 StepStarted REVIEW gates-passed 1",
  "4 StepWaiting REVIEW",
  "4 StepResumed REVIEW answer",
  "4 StepStarted AUTO_FIX fix 1",
  "4 StepStarted QUALITY_CHECK fixed 2",
  ...approved(4, 2),
  ...begun(5),
  "5 StepWaiting EXECUTE",
  "5 StepResumed EXECUTE answer",
  "5 StepStarted PHASE_COMPLETE override 1",
  "5 PhaseCompleted PHASE_COMPLETE override",
  ...begun(6),
  checked(6),
  ...approved(6),
  "RunCompleted"
]

const plain = (phase: number) => [
  `${phase} CommitVerified`,
  `${phase} QualityPassed 1`,
  `${phase} ReviewStarted REVIEW 1 false`,
  `${phase} VerdictReached REVIEW 1 ready`,
  `${phase} PhaseFinished`,
  `${phase} SummaryWritten`
]
const secondReview = (phase: number) => [
  `${phase} CommitVerified`,
  `${phase} QualityPassed 1`,
  `${phase} ReviewStarted REVIEW 1 false`,
  `${phase} VerdictReached REVIEW 1 not_ready`,
  `${phase} CommitVerified`,
  `${phase} QualityPassed 2`,
  `${phase} ReviewStarted REVIEW 2 true`,
  `${phase} VerdictReached REVIEW 2 ready`,
  `${phase} PhaseFinished`,
  `${phase} SummaryWritten`
]

const whatWorkspaceAndReviewerDid = [
  "WorkspacePrepared",
  "1 CommitVerified",
  "1 QualityFailed 1",
  "1 CommitVerified",
  "1 QualityFailed 2",
  "1 CommitVerified",
  "1 QualityPassed 3",
  ...plain(1).slice(2),
  "2 CommitRejected missing",
  ...plain(2),
  ...secondReview(3),
  ...secondReview(4),
  "5 PhaseFinished",
  "5 SummaryWritten",
  ...plain(6),
  "SummaryWritten",
  "WorkspaceReleased"
]

describe("a plan of five phases", () => {
  it.live(
    "completes through failed gates, a rejected commit, corrections, human decisions and a phase appended during the run",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({
          openCode: "shared",
          plan: plan("One", "Two", "Three", "Four", "Five"),
          config: 'permissions = "all"\n[gates]\nquality = ["test ! -e broken.txt"]\n',
          script: story
        })
        const parks = Effect.fnUntraced(function* (reason: RegExp) {
          const run = yield* world.reprise("run", "PLAN.md")
          assert.strictEqual(run.code, 4, run.stderr)
          const [question] = yield* world.questions
          assert.match(question?.reason ?? "", reason)
          return question ?? assert.fail("no question is open")
        })
        const choices = (question: { readonly options: ReadonlyArray<{ readonly name: string }> }) =>
          question.options.map(({ name }) => name)

        const human = yield* parks(/^The review needs a human for H1/)
        assert.deepStrictEqual(choices(human), ["fix", "override", "abort"])
        assert.match(human.evidence.continueUnavailable ?? "", /reviewer/)
        assert.deepStrictEqual(
          human.items?.map(({ id }) => id),
          ["H1", "R3"]
        )
        const words = "H1: keep it as it is.\nR3: `{see}` the guide 🙂"
        yield* world.reprise("gate", "answer", human.escalationId, "fix", "--guidance", words)
        const late = yield* world.reprise("gate", "answer", human.escalationId, "override")
        assert.strictEqual(late.code, 2, late.stderr)
        assert.match(late.stderr, /is closed: .*fix/)

        const key = yield* parks(/^The tests need a key/)
        assert.deepStrictEqual(choices(key), ["continue-session", "fix", "override", "abort"])
        yield* world.reprise("gate", "answer", key.escalationId, "override", "--guidance", "The key comes tomorrow.")

        const morning = yield* world.reprise("run", "PLAN.md")
        assert.strictEqual(morning.code, 0, morning.stderr)

        const [run] = yield* world.runs
        const events = yield* world.eventsOf(run?.runId ?? "")
        assert.deepStrictEqual(runEvents(events), whatTheRunDid)
        assert.deepStrictEqual(workEvents(events), whatWorkspaceAndReviewerDid)
        assert.deepStrictEqual(gateEvents(events), [
          "4 EscalationRaised REVIEW reviewer",
          "4 EscalationAnswered REVIEW fix",
          "5 EscalationRaised EXECUTE author",
          "5 EscalationAnswered EXECUTE override"
        ])
        assert.deepStrictEqual(
          run?.phases.map(({ qualityAttempts, reviewCycles, state }) => [state, qualityAttempts, reviewCycles]),
          [
            ["completed", 3, 1],
            ["completed", 1, 1],
            ["completed", 2, 2],
            ["completed", 2, 2],
            ["overridden", 0, 0],
            ["completed", 1, 1]
          ]
        )
        const notices = run?.notices.join("\n") ?? ""
        assert.include(notices, `Commit ${fabricated} was rejected (missing)`)
        assert.include(notices, `AnswerEscalation was refused: Escalation ${human.escalationId} is closed`)

        const authors = (yield* world.sessions).filter(({ role }) => role === "author")
        assert.deepStrictEqual(
          authors.map(({ phase, turns }) => `${phase}: ${turns}`).sort(),
          ["1: 3", "2: 2", "3: 2", "4: 1", "4: 1", "5: 1", "6: 1"],
          "each phase has one author session, which is told what was wrong; `fix` at the gate begins another"
        )
        const calls = yield* world.model.calls
        const rejections = calls.filter(
          ({ lastUser, round }) => round === 0 && lastUser.includes("was rejected (missing)")
        )
        assert.strictEqual(rejections.length, 1)
        const fix = calls.find(({ kind, lastUser }) => kind === "work" && lastUser.includes("H1: keep it"))
        assert.include(fix?.lastUser, words)
        assert.include(fix?.lastUser, "Title of R3")
        assert.deepStrictEqual(yield* world.model.unmatched, [])

        const ours = calls.filter(({ kind }) => kind !== "title" && kind !== "summary")
        const { author, reviewer } = run?.usage ?? assert.fail("there is no run")
        const prompted = ours.filter(({ round }) => round === 0)
        assert.strictEqual(prompted.length, author.turns + reviewer.turns, "each turn took one prompt, report and all")
        const said = ours.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0)
        const { cacheRead, cacheWrite, input, output, reasoning } = addTokens(author.tokens, reviewer.tokens)
        const counted = cacheRead + cacheWrite + input + output + reasoning
        assert.approximately(counted, said, said / 100, "the run counts what the model counts")

        const summary = events.findLast(({ type }) => type === "SummaryWritten")
        assert.include(readFileSync(join(world.root, String(summary?.["path"])), "utf8"), "The key comes tomorrow.")
      })
  )
})
