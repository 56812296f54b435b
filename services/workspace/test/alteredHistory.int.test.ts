/**
 * git shows another object in the place of one where a ref below `refs/replace` says so, and no history beyond what its file
 * `shallow` names. Whoever works in the tree may write both, and the git of a person who merges the work obeys them.
 */
import { symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { finishPhase } from "../src/work/phase/finishPhase.ts"
import { requireClean } from "../src/work/prepare/refusal.ts"
import { finish } from "./support/commands.ts"
import { type Attack, forged, isRefused, type Scene, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

/** Work, and a commit of other work that no branch has. */
const twoWorks = (at: Scene) => {
  const done = at.work()
  at.put("src/a.mjs", forged)
  const other = at.commit()
  at.git("reset", "--quiet", "--hard", done)
  return { done, other }
}

const putPacked = (at: Scene, ref: string, hash: string) =>
  writeFileSync(join(at.root, ".git/packed-refs"), `# pack-refs with: peeled fully-peeled sorted \n${hash} ${ref}\n`)

const putShallow = (at: Scene, ...hashes: ReadonlyArray<string>) =>
  writeFileSync(join(at.root, ".git/shallow"), hashes.map((hash) => `${hash}\n`).join(""))

const attacks: ReadonlyArray<Attack> = [
  {
    name: "a packed ref that replaces the commit",
    attack: (at) => {
      const { done, other } = twoWorks(at)
      putPacked(at, `refs/replace/${done}`, other)
      return done
    },
    shown: true,
    told: /git's refs\/replace\/[0-9a-f]{40} \(has git show [0-9a-f]{40} in the place of .* 'git update-ref --no-deref -d refs\/replace\/[0-9a-f]{40}'/
  },
  {
    name: "a ref that replaces a file of the commit",
    attack: (at) => {
      const { done, other } = twoWorks(at)
      at.git("replace", at.git("rev-parse", `${done}:src/a.mjs`), at.git("rev-parse", `${other}:src/a.mjs`))
      return done
    },
    told: /git's refs\/replace\/[0-9a-f]{40} \(has git show /
  },
  {
    name: "a file that ends the history at the commit before the work",
    attack: (at) => {
      const done = at.work()
      putShallow(at, at.base)
      return done
    },
    told: /git's shallow at [0-9a-f]{40} \(ends the history there: take the line out of the file/
  },
  {
    name: "such a file that a link leads to",
    attack: (at) => {
      const done = at.work()
      writeFileSync(join(at.root, ".reprise", "ends"), `${at.base}\n`)
      symlinkSync("../.reprise/ends", join(at.root, ".git/shallow"))
      return done
    },
    told: /git's shallow at [0-9a-f]{40} \(ends the history there/
  }
]

layer(adapters, { excludeTestServices: true })("a history that git's folder alters", (it) => {
  it.effect.each(attacks)("is refused for the work, the claims and the phase: $name", isRefused)

  it.effect("is refused where the user's environment names the refs that replace objects", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const { done, other } = twoWorks(at)
      putPacked(at, `refs/instead/${done}`, other)
      const name = "GIT_REPLACE_REF_BASE"
      const detail = yield* Effect.acquireUseRelease(
        Effect.sync(() => Object.assign(process.env, { [name]: "refs/instead/" })),
        () => at.detailOf(done),
        () => Effect.sync(() => delete process.env[name])
      )
      assert.match(detail, /git's refs\/instead\/[0-9a-f]{40} \(has git show /)
    })
  )

  it.effect("is believed as it stood before the run, and refused as it is changed later", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const { done, other } = twoWorks(at)
      const blob = (commit: string) => at.git("rev-parse", `${commit}:src/a.mjs`)
      at.git("replace", at.base, done)
      at.git("replace", "--force", blob(done), blob(other))
      yield* requireClean({ directory: at.root, root: at.root }, true)
      assert.strictEqual(yield* at.detailOf(done), "verified")
      at.git("replace", "--force", blob(done), at.git("rev-parse", `${done}:.gitignore`))
      assert.match(yield* at.detailOf(done), /git's refs\/replace\//)
    })
  )

  it.effect("is believed where the clone was shallow before the run, and refused where it ends elsewhere later", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const older = at.git("rev-parse", "HEAD^")
      putShallow(at, older)
      yield* requireClean({ directory: at.root, root: at.root }, false)
      const done = at.work()
      assert.strictEqual(yield* at.detailOf(done), "verified")
      putShallow(at, older, at.base)
      assert.match(yield* at.detailOf(done), new RegExp(`git's shallow at ${at.base} `))
    })
  )

  it.effect("keeps a phase from its end where a quality gate altered it after the verification", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const { done, other } = twoWorks(at)
      assert.strictEqual(yield* at.detailOf(done), "verified")
      putPacked(at, `refs/replace/${done}`, other)
      const finished = yield* finishPhase(finish(undefined, done), at.place)
      assert.match(finished._tag === "PhaseBlocked" ? finished.dirty.join() : finished._tag, /git's refs\/replace\//)
    })
  )
})
