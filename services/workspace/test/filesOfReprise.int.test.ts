/** Files with the names of those that Reprise writes are Reprise's own only where no commit and no index has them. */
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { verify } from "./support/commands.ts"
import { type Attack, forged, isRefused, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

const attacks: ReadonlyArray<Attack> = [
  {
    name: "a file of the commit in Reprise's own folder",
    attack: (at) => {
      at.put(".reprise/check.sh", "exit 1\n")
      at.git("add", "--force", ".reprise/check.sh")
      at.git("commit", "--quiet", "-m", "work")
      at.put(".reprise/check.sh", "exit 0\n")
      return at.git("rev-parse", "HEAD")
    },
    told: /\.reprise\/check\.sh/,
    shown: true
  },
  {
    name: "a file of the commit with the name of a summary that Reprise writes",
    attack: (at) => {
      at.put(".planning/phases/01-one/SUMMARY.md", "exit 1\n")
      const done = at.commit()
      at.put(".planning/phases/01-one/SUMMARY.md", "exit 0\n")
      return done
    },
    told: /\.planning\/phases\/01-one\/SUMMARY\.md/,
    shown: true
  },
  {
    name: "a file with the name of a summary where Reprise writes none",
    attack: (at) => {
      const done = at.work()
      at.put(".planning/SUMMARY.md", forged)
      return done
    },
    told: /\.planning\/SUMMARY\.md/,
    shown: true
  },
  {
    name: "an entry in Reprise's own folder that the index alone has",
    attack: (at) => {
      const done = at.work()
      at.put(".reprise/evil.mjs", forged)
      at.git("add", "--force", ".reprise/evil.mjs")
      return done
    },
    told: /\.reprise\/evil\.mjs/,
    shown: true
  }
]

layer(adapters, { excludeTestServices: true })("the tree that gates run on", (it) => {
  it.effect.each(attacks)("is not that of the commit with $name", isRefused)

  it.effect(
    "is not that of the commit with files that Reprise's rule hides beside those of the commit, in a worktree",
    () =>
      Effect.gen(function* () {
        const at = yield* scene
        const directory = join(at.root, ".reprise/worktrees/r1")
        at.git("worktree", "add", "--quiet", "-b", "run", directory)
        const inTree = (...args: ReadonlyArray<string>) => at.git("-C", directory, ...args)
        at.put(".reprise/worktrees/r1/.reprise/Makefile", "all:\n\tfalse\n")
        inTree("add", "--force", ".reprise/Makefile")
        inTree("commit", "--quiet", "-m", "work")
        const done = inTree("rev-parse", "HEAD")
        const place = { ...at.place, directory }
        const outcome = Effect.map(verifyCommit(verify(done, at.base), place), (event) =>
          event._tag === "CommitRejected" ? event.detail : "verified"
        )
        assert.strictEqual(yield* outcome, "verified")
        at.put(".reprise/worktrees/r1/.reprise/GNUmakefile", "all:\n")
        assert.match(yield* outcome, /\.reprise\/GNUmakefile \(is hidden by a rule that Reprise itself made/)
      })
  )
})
