import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { PermissionRequest } from "@opencode-ai/sdk/v2/client"
import type { PermissionMode } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { isInside as isInsideBut, isReadable, nothingProtected, placeOf as placeBut } from "../src/isInside.ts"
import { isApproved } from "../src/opencode/session/permissionRules.ts"

/** `work` with a file, and links to `outside`, to a file there, and to itself. */
const place = Effect.acquireRelease(
  Effect.sync(() => {
    const root = mkdtempSync(join(tmpdir(), "reprise-approval-"))
    const [work, outside] = [join(root, "work"), join(root, "outside")]
    mkdirSync(join(work, "src"), { recursive: true })
    mkdirSync(outside)
    writeFileSync(join(outside, "secret"), "")
    symlinkSync(outside, join(work, "link"))
    symlinkSync(join(outside, "secret"), join(work, "file-link"))
    symlinkSync(join(outside, "not-yet"), join(work, "dangling"))
    symlinkSync(join(work, "loop"), join(work, "loop"))
    symlinkSync(join(work, "src"), join(work, "inner-link"))
    mkdirSync(join(work, "src", "deep"))
    symlinkSync("src/deep", join(work, "down"))
    symlinkSync("/proc/self/cwd", join(work, "cwd"))
    symlinkSync("/dev/fd", join(work, "fd"))
    symlinkSync(work, join(root, "work-link"))
    return { root, work, outside }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true }))
)

const isInside = (directory: string, path: string) => isInsideBut(directory, path, nothingProtected)
const placeOf = (directory: string, path: string) => placeBut(directory, path, nothingProtected)

const edit = (...patterns: ReadonlyArray<string>): PermissionRequest => ({
  id: "per_1",
  sessionID: "ses_1",
  permission: "edit",
  patterns: [...patterns],
  metadata: {},
  always: []
})

const approved = (request: PermissionRequest, mode: PermissionMode | undefined, directory: string, sandboxed = false) =>
  isApproved(request, {
    mode: Option.fromNullishOr(mode),
    directory,
    worktree: directory,
    sandboxed,
    protectedPaths: nothingProtected
  })

describe("isInside", () => {
  it.effect("is true for files in the directory, existing or not, even through links that stay inside", () =>
    Effect.gen(function* () {
      const { root, work } = yield* place
      for (const path of ["a", "src/b", "new/deep/c", "inner-link/d", "src/../e", ".github/f", "..g"]) {
        assert.isTrue(yield* Effect.promise(() => isInside(work, path)), path)
        assert.isTrue(yield* Effect.promise(() => isInside(join(root, "work-link"), join(work, path))), path)
      }
    })
  )

  it.effect("is false for what makes a folder without '.git' a repository, and for what git obeys in one", () =>
    Effect.gen(function* () {
      const { work } = yield* place
      mkdirSync(join(work, "bare"))
      writeFileSync(join(work, "bare", "HEAD"), "ref: refs/heads/main\n")
      symlinkSync("bare", join(work, "to-bare"))
      const [no, yes] = [
        ["HEAD", "new/HEAD", "new/head", ...["config", "config.worktree", "commondir", "hooks/a", "Hooks/a/b"]],
        ["config", "src/config", "hooks/a", "bare/description", "bare/refs/config", "bare/src/hooks/a"]
      ]
      for (const path of no) {
        const places = path.toLowerCase().endsWith("head") ? [path] : [`bare/${path}`, `to-bare/${path}`]
        for (const at of places) assert.isFalse(yield* Effect.promise(() => isInside(work, at)), at)
        for (const at of places) assert.isTrue((yield* Effect.promise(() => placeOf(work, at))).guarded, at)
      }
      for (const path of yes) assert.isTrue(yield* Effect.promise(() => isInside(work, path)), path)
    })
  )

  it.effect.each([
    [["objects", "refs"], ["config", "commondir", "hooks/a"], []],
    [["worktrees"], ["config", "config.worktree", "commondir"], ["hooks/a", "config/a"]],
    [["objects"], ["config"], ["hooks/use.ts"]],
    [["commondir"], ["config", "hooks/a"], ["description"]]
  ] as const)(
    "is false in a git directory whose HEAD lies elsewhere, with %j: %j, and true for %j",
    ([parts, no, yes]) =>
      Effect.gen(function* () {
        const { work } = yield* place
        for (const part of parts) mkdirSync(join(work, "c", part), { recursive: true })
        for (const path of no) assert.isFalse(yield* Effect.promise(() => isInside(work, `c/${path}`)), path)
        for (const path of yes) assert.isTrue(yield* Effect.promise(() => isInside(work, `c/${path}`)), path)
      })
  )

  it.effect("is true for a file that is made while it looks", () =>
    Effect.gen(function* () {
      const { work } = yield* place
      for (let count = 0; count < 500; count++) {
        const path = join(work, `${count}`)
        const looks = Array.from({ length: 6 }, () => isInside(work, path))
        yield* Effect.promise(() => writeFile(path, ""))
        assert.notInclude(yield* Effect.promise(() => Promise.all(looks)), false)
      }
    })
  )

  it.effect("is false for paths that lead out or cannot be proved to stay inside", () =>
    Effect.gen(function* () {
      const { outside, root, work } = yield* place
      const paths = [
        "../a",
        "src/../../a",
        "link/a",
        "link/new/a",
        "file-link",
        "dangling",
        "loop",
        "loop/a",
        "",
        ".",
        "/etc/passwd",
        "a\0b",
        ...["cwd/a", "cwd/src/../a", "fd/0", "down/../a"],
        join(outside, "secret"),
        `${root}/work2/a`
      ]
      for (const path of paths) assert.isFalse(yield* Effect.promise(() => isInside(work, path)), JSON.stringify(path))
    })
  )

  it.effect("is the same for a read: a link of the kernel leads this process elsewhere than an agent", () =>
    Effect.gen(function* () {
      const { work } = yield* place
      const read = (path: string) => Effect.promise(() => isReadable(work, path))
      for (const path of ["cwd/a", "cwd", "fd/0", "down/../a"]) assert.isFalse(yield* read(path), path)
      for (const path of ["src/a", "down/a", "../outside/secret"]) assert.isTrue(yield* read(path), path)
      assert.isUndefined((yield* Effect.promise(() => placeOf(work, "cwd/a"))).real)
    })
  )

  it.effect("is false at, below and around what commands may not change, and where nobody knows what that is", () =>
    Effect.gen(function* () {
      const { work } = yield* place
      const kept = ["src/deep/filter", ".husky", "src/new/.gitconfig"].map((name) => join(realpathSync(work), name))
      const cases: ReadonlyArray<readonly [path: string, inside: boolean]> = [
        ...["src/deep/filter", ".husky", ".husky/pre-commit", ".Husky/_/pre-commit", "src/new/.gitconfig"],
        ...["down/filter", "inner-link/deep/filter", "inner-link/new/.gitconfig", "src/deep", "src/new", "src"]
      ].map((path) => [path, false])
      const others = ["src/deep/filters", "src/deep/a", ".husky2/a", "src/new/a"].map((path) => [path, true] as const)
      for (const [path, inside] of [...cases, ...others]) {
        assert.strictEqual(
          yield* Effect.promise(() => isInsideBut(work, path, () => Promise.resolve(kept))),
          inside,
          path
        )
        const { guarded } = yield* Effect.promise(() => placeBut(work, path, () => Promise.resolve(kept)))
        assert.strictEqual(guarded, !inside, path)
      }
      const unknown = () => Promise.reject(new Error("git's configuration is broken"))
      assert.isFalse(yield* Effect.promise(() => isInsideBut(work, "a", unknown)))
      assert.isTrue((yield* Effect.promise(() => placeBut(work, "a", unknown))).guarded)
    })
  )

  it.effect("is false for files that other programs execute or trust", () =>
    Effect.gen(function* () {
      const { work } = yield* place
      const obeyed = [
        ".opencode/plugin/x.ts",
        "sub/opencode.json",
        ".github/hooks/x.json",
        ".vscode/tasks.json",
        ".Codex/x"
      ]
      for (const path of [".git/config", "sub/.git/hooks/x", ".GIT/config", ".reprise/x", ...obeyed]) {
        assert.isFalse(yield* Effect.promise(() => isInside(work, path)), path)
      }
    })
  )
})

describe("isApproved", () => {
  it.effect("follows the session's mode", () =>
    Effect.gen(function* () {
      const { work } = yield* place
      const bash = { ...edit("rm -rf /"), permission: "bash" }
      assert.isTrue(yield* approved(bash, "all", work))
      assert.isFalse(yield* approved(bash, "workspace", work))
      assert.isTrue(yield* approved(edit("src/a"), "workspace", work))
      assert.isFalse(yield* approved(edit("src/a"), "ask", work))
      assert.isFalse(yield* approved(edit("src/a"), undefined, work))
    })
  )

  it.effect("allows commands, wherever they look, and edits inside, where commands run in the sandbox", () =>
    Effect.gen(function* () {
      const { work } = yield* place
      const bash = { ...edit("rm -rf /"), permission: "bash" }
      const looking = { ...edit("/etc/*"), permission: "external_directory", metadata: { command: "ls /etc" } }
      const reading = { ...edit("/etc/*"), permission: "external_directory", metadata: { filepath: "/etc/passwd" } }
      assert.isTrue(yield* approved(bash, "ask", work, true))
      assert.isTrue(yield* approved(looking, "ask", work, true))
      assert.isTrue(yield* approved(edit("src/a"), "ask", work, true))
      assert.isFalse(yield* approved(looking, "workspace", work))
      assert.isFalse(yield* approved(reading, "ask", work, true))
      assert.isFalse(yield* approved(edit("../a"), "ask", work, true))
      assert.isFalse(yield* approved(bash, undefined, work, true))
    })
  )

  it.effect(
    "allows reading a file inside the directory, but not through a link that leads out, nor a file of secrets",
    () =>
      Effect.gen(function* () {
        const { outside, work } = yield* place
        const read = (path: string) => ({ ...edit(path), permission: "read" })
        assert.isTrue(yield* approved(read("src/a"), "ask", work, true))
        // The agent was asked about that folder before.
        assert.isTrue(yield* approved(read(join(outside, "secret")), "ask", work, true))
        for (const path of ["link/secret", ".reprise/endpoint.json", ".env", "config/prod.env", ".env.local"]) {
          assert.isFalse(yield* approved(read(path), "ask", work, true), path)
        }
        assert.isTrue(yield* approved(read(".env.example"), "ask", work, true))
      })
  )

  it.effect("allows no edit of what commands may not change", () =>
    Effect.gen(function* () {
      const { work } = yield* place
      const protectedPaths = () => Promise.resolve([join(realpathSync(work), "src", "filter")])
      const context = {
        mode: Option.some<PermissionMode>("workspace"),
        directory: work,
        worktree: work,
        sandboxed: true
      }
      const of = (path: string) => isApproved(edit(path), { ...context, protectedPaths })
      assert.deepStrictEqual([yield* of("src/filter"), yield* of("src/a")], [false, true])
    })
  )

  it.effect("requires every file of an edit to be inside", () =>
    Effect.gen(function* () {
      const { work } = yield* place
      assert.isFalse(yield* approved(edit("src/a", "../b"), "workspace", work))
      assert.isFalse(yield* approved(edit(), "workspace", work))
      const named = { ...edit("src/a"), metadata: { filepath: "/etc/passwd" } }
      assert.isFalse(yield* approved(named, "workspace", work))
    })
  )
})
