/** A user merges the branch of a run, or pushes the one that is checked out: that must be what was verified. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { finishPhase } from "../src/work/phase/finishPhase.ts"
import { verifyClaims } from "../src/work/verify/verifyClaims.ts"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { claims, finish, verify } from "./support/commands.ts"
import { type Scene, scene } from "./support/hostileAuthor.ts"
import { adapters, at as repositoryAt } from "./support/repository.ts"

const unseen = (at: Scene) => {
  at.put("src/auth.mjs", "backdoor\n")
  return at.commit("unseen")
}

const onto = (at: Scene, ...checkout: ReadonlyArray<string>) => {
  at.git("checkout", "--quiet", ...checkout)
  return at.work()
}

const attacks: ReadonlyArray<readonly [string, (at: Scene) => string, RegExp]> = [
  [
    "has commits that HEAD, on another branch, does not have",
    (at) => {
      unseen(at)
      return onto(at, "-b", "fix", at.base)
    },
    /is at [0-9a-f]{40}, with commits that HEAD does not have\. Put it there: 'git checkout -B main [0-9a-f]{40}'/
  ],
  [
    "has commits that a detached HEAD does not have",
    (at) => {
      unseen(at)
      return onto(at, "--detach", at.base)
    },
    /with commits that HEAD does not have/
  ],
  [
    "has commits after HEAD",
    (at) => {
      const done = at.work()
      unseen(at)
      at.git("checkout", "--quiet", "--detach", done)
      return done
    },
    /with commits that HEAD does not have/
  ],
  [
    "is gone",
    (at) => {
      at.git("branch", "--move", "other")
      return at.work()
    },
    /is gone\. Put it there/
  ]
]

const told = Effect.fnUntraced(function* ({ base, place }: Pick<Scene, "base" | "place">, done: string) {
  const here = { ...place, branch: place.branch ?? "main" }
  const verified = yield* verifyCommit(verify(done, base), here)
  const claimed = yield* verifyClaims(claims(base, [], { commit: done }), here)
  const finished = yield* finishPhase(finish(undefined, done), here)
  return [
    verified._tag === "CommitRejected" ? verified.detail : verified._tag,
    claimed._tag === "ClaimsRejected" ? claimed.detail : claimed._tag,
    finished._tag === "PhaseBlocked" ? finished.dirty.join() : finished._tag
  ]
})

layer(adapters, { excludeTestServices: true })("the branch of a run", (it) => {
  it.effect.each(attacks)("is refused, and ends no phase, where it %s", ([, attack, expected]) =>
    Effect.gen(function* () {
      const at = yield* scene
      const done = attack(at)
      for (const answer of yield* told(at, done)) assert.match(answer, expected)
    })
  )

  const shadows: ReadonlyArray<readonly [string, (at: Scene, commit: string) => void]> = [
    ["a tag", (at, commit) => void at.git("tag", "reprise/p", commit)],
    [
      "a file in git's folder",
      (at, commit) => {
        mkdirSync(join(at.root, ".git/reprise"))
        writeFileSync(join(at.root, ".git/reprise/p"), `${commit}\n`)
      }
    ]
  ]
  it.effect.each(shadows)("is refused in a worktree where %s has its name", ([, shadow]) =>
    Effect.gen(function* () {
      const at = yield* scene
      const other = unseen(at)
      at.git("reset", "--quiet", "--hard", at.base)
      const directory = join(at.root, ".reprise/worktrees/r1")
      at.git("worktree", "add", "--quiet", "-b", "reprise/p", directory)
      const tree = repositoryAt(directory)
      yield* tree.write("a.mjs", "1")
      const done = yield* tree.commit("work")
      const place = { ...at.place, directory, branch: "reprise/p" }
      assert.deepStrictEqual(yield* told({ base: at.base, place }, done), [
        "CommitVerified",
        "ClaimsVerified",
        "PhaseFinished"
      ])
      shadow(at, other)
      for (const answer of yield* told({ base: at.base, place }, done)) {
        assert.include(answer, `is hidden behind something else of its name, which stands for ${other}`)
      }
    })
  )

  it.effect("may stay behind where the author works on a branch of its own, which is noted", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const done = onto(at, "-b", "fix")
      const place = { ...at.place, branch: "main" }
      const verified = yield* verifyCommit(verify(done, at.base), place)
      const note = `HEAD is not on 'main', the branch of the run, which stays at ${at.base.slice(0, 12)}: what was verified is at ${done.slice(0, 12)}.`
      assert.deepStrictEqual(verified._tag === "CommitVerified" ? verified.notes : verified, [note])
      assert.strictEqual((yield* finishPhase(finish(undefined, done), place))._tag, "PhaseFinished")
    })
  )
})
