/** What Reprise keeps in the git directory of a working tree: which tree it is, and what git leaves out. */
import { randomUUID } from "node:crypto"
import { lstat, stat } from "node:fs/promises"
import { join } from "node:path"
import { hasCode, readForeignFile, readForeignText, replaceFile } from "@reprise/process"
import { Context, Effect, Layer, Result, Schema } from "effect"
import { asNotAFile, HostFault, NotAFile } from "../faults.ts"

type GitDirectoryFault = HostFault | NotAFile

const attempt = <A>(operation: string, run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => (cause instanceof NotAFile ? cause : (asNotAFile(cause) ?? new HostFault({ operation, cause })))
  })

const largestBytes = 1024 * 1024

/** Agents can write in git's folder. */
const textOf = async (path: string): Promise<string> =>
  (await readForeignText(path, { largestBytes, follow: false })) ?? ""

/** git lets the umask decide who may read its directory. */
const replace = (path: string, text: string | Buffer) => replaceFile(path, text, { mode: 0o666, folderMode: 0o777 })

const Identity = Schema.fromJsonString(Schema.Struct({ id: Schema.String, inode: Schema.Finite }))
const decodeIdentity = Schema.decodeUnknownResult(Identity)

const identify = (gitDirectory: string) =>
  attempt("identifying the workspace", async () => {
    const path = join(gitDirectory, "reprise-workspace.json")
    const { ino: inode } = await stat(gitDirectory)
    const known = Result.getOrUndefined(decodeIdentity(await textOf(path)))
    if (known?.inode === inode) return known.id
    const id = randomUUID()
    await replace(path, JSON.stringify({ id, inode }))
    return id
  })

/** `patterns`: ASCII. A byte is a letter: git compares bytes, and the names that a user excludes may be no UTF-8. */
const exclude = (path: string, patterns: ReadonlyArray<string>) =>
  attempt("excluding Reprise's files from git", async () => {
    const text = (await readForeignFile(path, { largestBytes, follow: true }))?.toString("latin1") ?? ""
    const present = new Set(text.split(/\r?\n/))
    const missing = patterns.filter((pattern) => !present.has(pattern))
    if (missing.length === 0) return
    const isLink = await lstat(path).then(
      (found) => found.isSymbolicLink(),
      (error) => (hasCode(error, "ENOENT") ? false : Promise.reject(error))
    )
    if (isLink) {
      const next = `Add these lines to the file that it leads to: ${missing.join(" ")}`
      throw new NotAFile({ path, what: "is a link, and Reprise writes through none", next })
    }
    const separator = text === "" || text.endsWith("\n") ? "" : "\n"
    await replace(path, Buffer.from(`${text}${separator}${missing.join("\n")}\n`, "latin1"))
  })

export class GitDirectory extends Context.Service<
  GitDirectory,
  {
    /**
     * The id of this working tree: the same for every host and path through which it is seen. The copy of a repository
     * contains the file too, but on another inode, and gets another id.
     */
    readonly identify: (gitDirectory: string) => Effect.Effect<string, GitDirectoryFault>
    /** Adds the missing patterns to `.git/info/exclude`, whose path is given. `NotAFile` where that is a link to a file without them. */
    readonly exclude: (path: string, patterns: ReadonlyArray<string>) => Effect.Effect<void, GitDirectoryFault>
  }
>()("workspace/GitDirectory") {
  static readonly layer = Layer.succeed(GitDirectory, {
    identify,
    exclude
  })
}
