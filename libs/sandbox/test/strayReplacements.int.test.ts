/** Refs by which git shows an object in the place of another, that appeared while a command ran. */
import { execFileSync } from "node:child_process"
import { appendFileSync, existsSync, renameSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, type Scene, scene } from "../src/testing.ts"
import { during, environmentOf, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

/** As the user has it: it obeys what replaces an object. */
const git = (here: Scene, ...args: ReadonlyArray<string>) =>
  execFileSync("git", args, { cwd: here.workspace, env: environmentOf(here), encoding: "utf8", stdio: "pipe" }).trim()

const user = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]

/** Makes a commit with another file, and gives the text of a packed ref that puts it in the place of HEAD. */
const packed = (here: Scene, gitDirectory: string, folder = "refs/replace") => {
  const at = ["--git-dir", join(here.workspace, gitDirectory)]
  const blob = execFileSync("git", [...at, "hash-object", "-w", "--stdin"], { cwd: here.workspace, input: "forged\n" })
  const tree = execFileSync("git", [...at, "mktree"], {
    cwd: here.workspace,
    input: `100644 blob ${String(blob).trim()}\tforged\n`
  })
  const other = git(here, ...user, ...at, "commit-tree", "-m", "forged", String(tree).trim())
  return { other, line: `${other} ${folder}/${git(here, ...at, "rev-parse", "HEAD")}` }
}

const append = (gitDirectory: string, line: string) =>
  `touch ${gitDirectory}/packed-refs; grep -v '^#' ${gitDirectory}/packed-refs >packed; echo '${line}' >>packed; cat packed >${gitDirectory}/packed-refs; rm packed`

/** As by another program of the user's: commands write a clone. */
const outside = (here: Scene, text: string) =>
  execFileSync("/bin/sh", ["-c", text], { cwd: here.workspace, env: environmentOf(here), stdio: "pipe" })

describe.skipIf(!sandboxed)("a ref that replaces an object", () => {
  it.live.each([
    { name: "of the repository", gitDirectory: ".git", folder: "refs/replace" },
    { name: "of a submodule", gitDirectory: ".git/modules/sub", folder: "refs/replace" },
    { name: "by the name that the user's environment says", gitDirectory: ".git", folder: "refs/instead" },
    { name: "behind a tab", gitDirectory: ".git", folder: "refs/replace", blank: "\t" }
  ])("is removed where it was packed: $name", ({ blank = " ", folder, gitDirectory }) =>
    Effect.gen(function* () {
      const here = yield* scene
      const { line } = packed(here, gitDirectory, folder)
      const more = folder === "refs/replace" ? {} : { GIT_REPLACE_REF_BASE: `${folder}/` }
      const left = () => git(here, "--git-dir", join(here.workspace, gitDirectory), "for-each-ref", folder)
      yield* during(
        here,
        (sandbox) =>
          Effect.gen(function* () {
            yield* runIn(here, sandbox, "true", more)
            outside(here, append(gitDirectory, line.replace(" ", blank)))
            assert.notStrictEqual(left(), "", "it is there")
            yield* sandbox.tidy(here.workspace)
          }),
        more
      )
      assert.strictEqual(left(), "")
      assert.isFalse(existsSync(join(here.workspace, gitDirectory, folder)))
    })
  )

  it.live("is removed where packed refs are in an order in which git does not list it, and it is there twice", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const { line } = packed(here, ".git")
      const head = git(here, "rev-parse", "HEAD")
      const lines = [
        "# pack-refs with: peeled fully-peeled sorted ",
        `${head} refs/replace-${"x".repeat(200)}/${"x".repeat(200)}`,
        `${head} refs/zzz`,
        `${head} refs/replace-${"y".repeat(100)}`,
        line,
        `${git(here, "rev-parse", "HEAD^")} refs/replace/${head}`
      ]
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, "true")
          outside(here, `printf '%s\\n' ${lines.map((one) => `'${one}'`).join(" ")} >.git/packed-refs`)
          assert.strictEqual(git(here, "for-each-ref", "refs/replace"), "")
          assert.include(git(here, "replace", "--list"), head)
          yield* sandbox.tidy(here.workspace)
        })
      )
      assert.strictEqual(git(here, "replace", "--list"), "")
      assert.strictEqual(git(here, "rev-parse", "refs/zzz"), head)
    })
  )

  it.live("is looked for where the user's packed-refs is a link, as git-new-workdir makes it", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const { other, line } = packed(here, ".git")
      git(here, "pack-refs", "--all")
      const shared = join(here.home, "packed-refs")
      renameSync(join(here.workspace, ".git", "packed-refs"), shared)
      symlinkSync(shared, join(here.workspace, ".git", "packed-refs"))
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, "true")
          appendFileSync(shared, `${line}\n`)
          assert.include(git(here, "replace", "--list", "--format=medium"), other)
          yield* sandbox.tidy(here.workspace)
        })
      )
      assert.strictEqual(git(here, "replace", "--list"), "")
    })
  )

  it.live("of the user's stays, packed or not, and is put back where it was changed", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const { other, line } = packed(here, ".git")
      git(here, "replace", "HEAD", other)
      git(here, "pack-refs", "--all")
      const before = git(here, "for-each-ref", "refs/replace")
      assert.include(before, other)
      const changed = line.replace(other, git(here, "--no-replace-objects", "rev-parse", "HEAD^"))
      const alone = "refs/replace/0123456789012345678901234567890123456789"
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, "true")
          outside(here, `sed -i '/refs.replace/d' .git/packed-refs; ${append(".git", changed)}`)
          git(here, "update-ref", alone, other)
          yield* sandbox.tidy(here.workspace)
        })
      )
      assert.strictEqual(git(here, "for-each-ref", "refs/replace"), `${other} commit\t${alone}\n${before}`)
    })
  )
})
