/** A repository whose author is an attacker: what its commands may do in the tree and in git's directory. */
import { execFileSync, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { deflateSync } from "node:zlib"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { finishPhase } from "../../src/work/phase/finishPhase.ts"
import { requireClean } from "../../src/work/prepare/refusal.ts"
import { verifyClaims } from "../../src/work/verify/verifyClaims.ts"
import { verifyCommit } from "../../src/work/verify/verifyCommit.ts"
import { claims, finish, verify } from "./commands.ts"
import { repository } from "./repository.ts"

/** The test that a gate runs, as the commit has it and as an attacker has it: of the same length. */
export const honest = "process.exit(1)\n"
export const forged = "process.exit(0)\n"

/** For attacks: everything that a command may do in the tree and in git's directory. */
export const scene = Effect.gen(function* () {
  const made = yield* repository
  const { root } = made
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
      cwd: root,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"]
    }).trim()
  let seconds = 0
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    // Old, so that git does not read it again because it is as new as the index, and of another time than before.
    seconds += 1
    utimesSync(join(root, path), seconds, seconds)
  }
  put("tools/check.mjs", honest)
  put(".gitignore", "node_modules/\n*.log\n")
  git("add", "--all")
  git("commit", "--quiet", "-m", "begin")
  const base = git("rev-parse", "HEAD")
  // What people have in their trees.
  mkdirSync(join(root, "drafts"))
  yield* requireClean({ directory: root, root }, false)
  const commit = (message = "work") => {
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "-m", message)
    return git("rev-parse", "HEAD")
  }
  const work = () => {
    put("src/a.mjs", "export const a = 1\n")
    return commit()
  }
  const detailOf = (reported: string) =>
    Effect.map(verifyCommit(verify(reported, base), made.place), (event) =>
      event._tag === "CommitRejected" ? `${event.reason}: ${event.detail}` : "verified"
    )
  return { ...made, base, git, put, commit, work, detailOf }
})
export type Scene = Effect.Success<typeof scene>

/** What an author leaves in a tree that is not that of the commit. */
export interface Attack {
  readonly name: string
  /** Gives the commit that the author reports. */
  readonly attack: (scene: Scene) => string
  /** What the author is told. */
  readonly told: RegExp
  /** Whether `git status` shows it: then the rejection needs no reason. */
  readonly shown?: true
}

/** Neither the commit nor claims about it are accepted, the phase does not end, and each says why. */
export const isRefused = Effect.fnUntraced(function* ({ attack, shown, told }: Attack) {
  const at = yield* scene
  const done = attack(at)
  if (shown !== true)
    assert.strictEqual(at.git("status", "--porcelain", "--", ":!.gitattributes"), "", "git sees nothing")
  const detail = yield* at.detailOf(done)
  assert.match(detail, /^dirty-tree: Not committed: /)
  assert.match(detail, told)
  const claimed = yield* verifyClaims(claims(at.base, [], { commit: done }), at.place)
  assert.containSubset(claimed, { _tag: "ClaimsRejected", reason: "dirty-tree" })
  const finished = yield* finishPhase(finish(undefined, done), at.place)
  assert.match(finished._tag === "PhaseBlocked" ? finished.dirty.join(", ") : finished._tag, told)
})

/** Gives a file other content with the same size and modification time, so that only its change time tells. */
export const forge = ({ root }: Pick<Scene, "root">, path: string, text: string) => {
  const { atime, mtime } = lstatSync(join(root, path))
  writeFileSync(join(root, path), text)
  utimesSync(join(root, path), atime, mtime)
}

/** Puts another hash in the place of one in an index or a commit-graph: what git has stored about a file on the disk stays. */
export const exchange = (file: string, from: string, to: string) => {
  const bytes = readFileSync(file).subarray(0, -20)
  Buffer.from(to, "hex").copy(bytes, bytes.indexOf(Buffer.from(from, "hex")))
  chmodSync(file, 0o644)
  writeFileSync(file, Buffer.concat([bytes, createHash("sha1").update(bytes).digest()]))
}

/** Writes what git takes for a loose object of a name, whatever it holds. */
export const putObject = ({ root }: Pick<Scene, "root">, hash: string, type: string, content: Buffer) => {
  const path = join(root, ".git/objects", hash.slice(0, 2), hash.slice(2))
  if (existsSync(path)) chmodSync(path, 0o644)
  writeFileSync(path, deflateSync(Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])))
}

/** A socket on which nobody listens any more. */
export const putSocket = (path: string) => {
  const listen = "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))"
  spawnSync(process.execPath, ["-e", listen, path])
}

/** A file below so many folders that no program can name it. */
export const putDeep = (root: string, top: string) => {
  const script = `cd "$0" && for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22
    do d="$n$1"; mkdir -p "$d" && cd -P "$d" || exit 1; done; echo x > conftest.py`
  mkdirSync(join(root, top), { recursive: true })
  execFileSync("sh", ["-c", script, join(root, top), "d".repeat(200)])
}

/** What a gate runs. */
export const check = "tools/check.mjs"
