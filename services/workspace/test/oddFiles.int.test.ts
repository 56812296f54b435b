/** What an agent can put in the place of a file, crossed with everything that a workspace is asked. None may wait for it. */
import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { type OddFile, oddFiles } from "@reprise/process/testing"
import { Effect, Layer, type Scope } from "effect"
import type { WorkspaceFact } from "../src/actor/inputs.ts"
import { createInside, kindInside, readInside } from "../src/work/files/insideDirectory.ts"
import { Leases } from "../src/work/leases/Leases.ts"
import { finishPhase } from "../src/work/phase/finishPhase.ts"
import { writeContinuationState } from "../src/work/phase/writeContinuationState.ts"
import { prepare } from "../src/work/prepare/prepare.ts"
import { verifyClaims } from "../src/work/verify/verifyClaims.ts"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { verifyContinuation } from "../src/work/verify/verifyContinuation.ts"
import { host, inMemory } from "./support/brokers.ts"
import { claims, finish, phase, prepareIn, runId, verify, verifyTasks } from "./support/commands.ts"
import { adapters, type Repository, repository } from "./support/repository.ts"

const configuration = "x0/opencode.json"
const review = "docs/reviews/plan-phase-1-review.md"
const state = ".planning/phases/01-one/.continuation-state.json"

/** A phase that began at `base`, with one commit of work. */
const withWork = Effect.gen(function* () {
  const made = yield* repository
  yield* made.write(configuration, '{\n  "model": "a/b"\n}\n')
  const base = yield* made.commit("base")
  yield* made.write("a.ts", "1")
  yield* made.write(review, "# Review\n")
  return { ...made, base, work: yield* made.commit("work") }
})
type WithWork = Effect.Success<typeof withWork>

/** In the place of what is there, until the test ends. */
const put = ({ root }: Repository, path: string, odd: OddFile) =>
  Effect.acquireRelease(
    Effect.promise(() => {
      const absolute = join(root, path)
      rmSync(absolute, { recursive: true, force: true })
      mkdirSync(dirname(absolute), { recursive: true })
      return odd.put(absolute)
    }),
    (remove) => Effect.sync(remove)
  )

const writeState = {
  _tag: "WriteContinuationState",
  runId,
  phase,
  planId: "plan",
  slug: "one",
  completedTasks: [],
  checkpoint: { task: "T1", type: "decision", description: "Which?" },
  resumeAt: "T1"
} as const

const services = Leases.layer.pipe(Layer.provideMerge(inMemory), Layer.provideMerge(adapters))

type Row<Answer> = readonly [
  what: string,
  path: string,
  ask: (
    made: WithWork
  ) => Effect.Effect<Answer, { readonly message: string }, Layer.Success<typeof services> | Scope.Scope>,
  expected: RegExp
]

/** What it says: an event as its tag and its reason, or why it failed. */
const said = (event: WorkspaceFact): string => {
  const why = "reason" in event ? event.reason : "dirty" in event ? event.dirty.join() : ""
  const missing = "missingFiles" in event ? event.missingFiles.join() : ""
  return `${event._tag} ${why} ${missing} ${"detail" in event ? event.detail : ""}`
}

const rows: ReadonlyArray<Row<WorkspaceFact>> = [
  [
    "VerifyCommit, in the place of OpenCode's configuration",
    configuration,
    ({ base, place, work }) => verifyCommit(verify(work, base), place),
    /^CommitRejected dirty-tree .*x0\/opencode\.json/
  ],
  [
    "VerifyClaims, in the place of OpenCode's configuration",
    configuration,
    ({ base, place, work }) => verifyClaims(claims(base, [{ id: "T1", commit: work, files: [] }]), place),
    /^ClaimsRejected dirty-tree .*x0\/opencode\.json/
  ],
  [
    "FinishPhase, in the place of OpenCode's configuration",
    configuration,
    ({ place }) => finishPhase(finish(review), place),
    /^PhaseBlocked x0\/opencode\.json/
  ],
  [
    "FinishPhase, in the place of the plan",
    "PLAN.md",
    ({ place }) => finishPhase(finish(review), place),
    /^PhaseBlocked PLAN\.md/
  ],
  [
    "FinishPhase, in the place of the review",
    review,
    ({ place }) => finishPhase(finish(review), place),
    /^PhaseFinished|^PhaseBlocked \S*\.pipe \(is a named pipe|^PhaseBlocked docs\/reviews\S* \(is where the review is written|^docs\/reviews.* is too large|^git update-index failed \(/
  ],
  [
    "PrepareWorkspace, in the place of the plan",
    "PLAN.md",
    ({ root }) => Effect.map(prepare(prepareIn(root), host, undefined, crypto.randomUUID()), ({ event }) => event),
    /^WorkspaceRefused .*PLAN\.md/
  ],
  [
    "PrepareWorkspace, in the place of git's own exclusions",
    ".git/info/exclude",
    ({ root }) => Effect.map(prepare(prepareIn(root), host, undefined, crypto.randomUUID()), ({ event }) => event),
    /^WorkspacePrepared|^WorkspaceRefused .*\.git\/info\/exclude (?:is|has|may)|nested symlinks on path .*exclude/
  ],
  [
    "VerifyContinuation, in the place of a task's file",
    "a.ts",
    ({ place, work }) => verifyContinuation(verifyTasks([{ id: "T1", commit: work, files: ["a.ts"] }]), place),
    /^Continuation(?:Rejected +a\.ts|Verified)/
  ],
  [
    "WriteContinuationState, in the place of the state",
    state,
    ({ place }) => writeContinuationState(writeState, place),
    /^ContinuationStateWritten/
  ],
  [
    "WriteContinuationState, in the place of a folder above it",
    ".planning",
    ({ place }) => writeContinuationState(writeState, place),
    /^ContinuationStateWritten|^\.planning is (?:not a directory|a link, and Reprise writes through none)\. Move it out of the way\./
  ],
  [
    "WriteContinuationState, in the place of its draft",
    `${state}.tmp`,
    ({ place }) => writeContinuationState(writeState, place),
    /^ContinuationStateWritten/
  ]
]

layer(services, { excludeTestServices: true })("a workspace", (it) => {
  for (const odd of oddFiles) {
    it.effect(`answers everything where there is ${odd.name}`, () =>
      Effect.forEach(
        rows,
        Effect.fnUntraced(function* ([what, path, ask, expected]) {
          const made = yield* withWork
          yield* put(made, path, odd)
          const outcome = yield* ask(made).pipe(
            Effect.map(said),
            Effect.catch(({ message }) => Effect.succeed(message))
          )
          assert.match(outcome, expected, what)
        }, Effect.scoped),
        { concurrency: 4, discard: true }
      )
    )

    it.effect(`reads, tells apart and opens no log through ${odd.name}`, () =>
      Effect.gen(function* () {
        const made = yield* repository
        yield* put(made, "odd", odd)
        const tried = (run: () => Promise<unknown>) =>
          Effect.promise(() =>
            run().then(
              () => "done",
              (error: Error) => error.message
            )
          )
        const read = yield* tried(() => readInside(made.root, "odd"))
        if (odd.code === undefined) assert.strictEqual(read, "done")
        else assert.match(read, /odd (?:is|has|may)|not inside the workspace/)
        const kind = yield* Effect.promise(() => kindInside(made.root, "odd"))
        if (odd.code === "EFBIG") assert.strictEqual(kind, "huge")
        else if (odd.code === "EACCES") assert.strictEqual(kind, "file")
        else assert.include(["other", "directory", "dangling"], kind)
        const opened = yield* tried(async () => await (await createInside(made.root, "odd")).close())
        assert.strictEqual(opened === "done", odd.code === "EFBIG")
      })
    )
  }

  const blocked: ReadonlyArray<Row<WorkspaceFact>> = [
    [
      "VerifyCommit where all is committed",
      "deep/.gitattributes",
      ({ base, place, work }) => verifyCommit(verify(work, base), place),
      /^CommitRejected dirty-tree .*deep\/\.gitattributes \(?is a named pipe/
    ],
    [
      "VerifyClaims where all is committed",
      "deep/.gitattributes",
      ({ base, place, work }) => verifyClaims(claims(base, [{ id: "T1", commit: work, files: [] }]), place),
      /^ClaimsRejected dirty-tree .*deep\/\.gitattributes \(?is a named pipe/
    ],
    [
      "VerifyCommit",
      "deep/.gitattributes",
      ({ base, place, work }) => verifyCommit(verify(work, base), place),
      /^CommitRejected dirty-tree .*deep\/\.gitattributes \(?is a named pipe/
    ],
    [
      "VerifyCommit before git looks at the tree",
      ".gitattributes",
      ({ base, place, work }) => verifyCommit(verify(work, base), place),
      /^CommitRejected dirty-tree .*\/\.gitattributes is a named pipe/
    ],
    [
      "VerifyClaims",
      "deep/.gitignore",
      ({ base, place, work }) => verifyClaims(claims(base, [{ id: "T1", commit: work, files: [] }]), place),
      /^ClaimsRejected dirty-tree .*\/deep\/\.gitignore is a named pipe/
    ],
    [
      "FinishPhase",
      "deep/.gitignore",
      ({ place }) => finishPhase(finish(review), place),
      /^PhaseBlocked deep\/\.gitignore/
    ],
    [
      "PrepareWorkspace",
      ".gitignore",
      ({ root }) => Effect.map(prepare(prepareIn(root), host, undefined, crypto.randomUUID()), ({ event }) => event),
      /^WorkspaceRefused .*\/\.gitignore is a named pipe/
    ],
    [
      "PrepareWorkspace whose postCreate made it",
      "unrelated",
      ({ root }) => {
        const wanted = prepareIn(root, { worktree: true, postCreate: ["mkfifo .gitignore"] })
        return Effect.map(prepare(wanted, host, undefined, crypto.randomUUID()), ({ event }) => event)
      },
      /^WorkspaceRefused .*\/\.gitignore is a named pipe/
    ],
    [
      "VerifyContinuation",
      ".mailmap",
      ({ place, work }) => verifyContinuation(verifyTasks([{ id: "T1", commit: work, files: ["gone.ts"] }]), place),
      /\.mailmap is a named pipe|^ContinuationRejected/
    ]
  ]
  it.effect("names the pipe on which git would wait forever", () =>
    Effect.forEach(
      blocked,
      Effect.fnUntraced(function* ([what, path, ask, expected]) {
        const made = yield* withWork
        const change = !what.endsWith("committed")
        yield* made.write("deep/b.ts", "1")
        const work = yield* made.commit("deep")
        mkdirSync(join(made.root, "deep"), { recursive: true })
        execFileSync("mkfifo", [join(made.root, path)])
        // A file of the same size, and one that is new, make git read what stands beside them.
        if (change) {
          yield* made.write("deep/b.ts", "2")
          yield* made.write("deep/new.ts", "1")
        }
        const outcome = yield* ask({ ...made, work }).pipe(
          Effect.map(said),
          Effect.catch(({ message }) => Effect.succeed(message))
        )
        assert.match(outcome, expected, what)
      }, Effect.scoped),
      { concurrency: "unbounded", discard: true }
    )
  )
})
