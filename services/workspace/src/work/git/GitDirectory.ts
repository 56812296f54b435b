/** What Reprise keeps in the git directory of a working tree: which tree it is, and what git leaves out. */
import { randomUUID } from "node:crypto"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { readForeignText, replaceFile } from "@reprise/process"
import { Context, Effect, Layer, Result, Schema } from "effect"
import { asNotAFile, HostFault, type NotAFile } from "../faults.ts"

type GitDirectoryFault = HostFault | NotAFile

const attempt = <A>(operation: string, run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => asNotAFile(cause) ?? new HostFault({ operation, cause })
  })

/** Agents can write in git's folder. */
const textOf = async (path: string): Promise<string> =>
  (await readForeignText(path, { largestBytes: 1024 * 1024, follow: false })) ?? ""

/** git lets the umask decide who may read its directory. */
const replace = (path: string, text: string) => replaceFile(path, text, { mode: 0o666, folderMode: 0o777 })

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

const exclude = (path: string, patterns: ReadonlyArray<string>) =>
  attempt("excluding Reprise's files from git", async () => {
    const text = await textOf(path)
    const present = new Set(text.split(/\r?\n/))
    const missing = patterns.filter((pattern) => !present.has(pattern))
    if (missing.length === 0) return
    const separator = text === "" || text.endsWith("\n") ? "" : "\n"
    await replace(path, `${text}${separator}${missing.join("\n")}\n`)
  })

export class GitDirectory extends Context.Service<
  GitDirectory,
  {
    /**
     * The id of this working tree: the same for every host and path through which it is seen. The copy of a repository
     * contains the file too, but on another inode, and gets another id.
     */
    readonly identify: (gitDirectory: string) => Effect.Effect<string, GitDirectoryFault>
    /** Adds the missing patterns to `.git/info/exclude`, whose path is given. */
    readonly exclude: (path: string, patterns: ReadonlyArray<string>) => Effect.Effect<void, GitDirectoryFault>
  }
>()("workspace/GitDirectory") {
  static readonly layer = Layer.succeed(GitDirectory, {
    identify,
    exclude
  })
}
