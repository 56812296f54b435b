import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ForeignFileRefused, type ProgramFailed, runGit } from "../src/index.ts"
import { awaitedLeases, fileKey } from "../src/leases.ts"

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-leases-")))
    execFileSync("git", ["init", "--quiet", root])
    writeFileSync(join(root, ".gitignore"), "x\n")
    execFileSync("git", ["-C", root, "add", "."])
    return root
  }),
  (root) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

/** F_SETLEASE with F_WRLCK, kept whoever asks for it. */
const program = `$SIG{IO} = "IGNORE"; open(F, "+<", $ARGV[0]) or die; fcntl(F, 1024, 1) or die; $| = 1; print "leased"; <STDIN>`

const leased = (path: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = spawn("perl", ["-e", program, path], { stdio: ["pipe", "pipe", "inherit"] })
      await Promise.race([once(child.stdout, "data"), once(child, "exit")])
      return child
    }),
    (child) =>
      Effect.promise(async () => {
        if (child.exitCode !== null) return
        child.kill("SIGKILL")
        await once(child, "exit")
      })
  )

describe("leases on files", () => {
  it.each([
    ["1: LEASE  BREAKING  READ 7154 fe:00:2539331 0 EOF", [{ pid: 7154, key: "254:0:2539331" }]],
    ["12: LEASE  BREAKING  UNLCK 9 103:1a:5 0 EOF", [{ pid: 9, key: "259:26:5" }]],
    ["1: LEASE  ACTIVE    WRITE 7154 fe:00:2539331 0 EOF", []],
    ["1: -> LEASE  BREAKER   READ 7805 <none>:0 0 EOF", []],
    ["1: DELEG  BREAKING  READ 7154 fe:00:2539331 0 EOF", []],
    ["2: POSIX  ADVISORY  READ 11966 fe:00:2327137 128 128", []],
    ["", []]
  ])("are awaited as Linux says: %s", (line, expected) => {
    assert.deepStrictEqual(awaitedLeases(`${line}\n`), expected)
    assert.deepStrictEqual(awaitedLeases(`3: FLOCK  ADVISORY  WRITE 1 fe:00:1 0 EOF\n${line}\n`), expected)
  })

  it.each([
    [0xfe00n, "254:0:7"],
    [0x10301n, "259:1:7"],
    [0x100fe01n, "254:4097:7"]
  ])("are looked for by device and inode: %s", (dev, key) => {
    assert.strictEqual(fileKey({ dev, ino: 7n }), key)
  })

  it.live.each(process.platform === "linux" ? [".gitignore", ".git/HEAD", ".git/index"] : [])(
    "end git with an error that names the file and the process, where one has a lease on %s",
    (name) =>
      Effect.gen(function* () {
        const root = yield* repository
        const path = join(root, name)
        const { pid } = yield* leased(path)
        const failure: ProgramFailed = yield* Effect.flip(runGit(root, ["status", "--porcelain"]))
        assert.strictEqual(failure.reason, "blocked")
        assert.instanceOf(failure.cause, ForeignFileRefused)
        assert.strictEqual(
          failure.cause instanceof Error ? failure.cause.message : "",
          `${path} has a lease of process ${pid}, which does not give it back. End that process.`
        )
      }).pipe(Effect.scoped)
  )
})
