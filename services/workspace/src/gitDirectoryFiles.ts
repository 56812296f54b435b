/** The few files that Reprise keeps in git's own directory of a working tree. They die with the tree. */
import { randomUUID } from "node:crypto"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { readIfPresent, replaceFile } from "@reprise/process"
import { Effect, Result, Schema } from "effect"
import { HostFault } from "./faults.ts"

const attempt = <A>(operation: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new HostFault({ operation, cause }) })

const textOf = async (path: string): Promise<string> => (await readIfPresent(path)) ?? ""

/** git decides by the umask who may read its directory. */
const replace = (path: string, text: string) => replaceFile(path, text, { mode: 0o666, folderMode: 0o777 })

const Identity = Schema.fromJsonString(Schema.Struct({ id: Schema.String, inode: Schema.Finite }))
const decodeIdentity = Schema.decodeUnknownResult(Identity)

/**
 * A name for this working tree, the same for every host and path through which it is seen. A copy of a repository
 * brings its file along, but on another inode, and gets a name of its own.
 */
export const workspaceIdentity = (gitDirectory: string): Effect.Effect<string, HostFault> =>
  attempt("naming the workspace", async () => {
    const path = join(gitDirectory, "reprise-workspace.json")
    const { ino: inode } = await stat(gitDirectory)
    const known = Result.getOrUndefined(decodeIdentity(await textOf(path)))
    if (known?.inode === inode) return known.id
    const id = randomUUID()
    await replace(path, JSON.stringify({ id, inode }))
    return id
  })

/** Adds what is missing to `.git/info/exclude`. */
export const excludeFromGit = (path: string, patterns: ReadonlyArray<string>): Effect.Effect<void, HostFault> =>
  attempt("excluding Reprise's files from git", async () => {
    const text = await textOf(path)
    const there = new Set(text.split(/\r?\n/))
    const missing = patterns.filter((pattern) => !there.has(pattern))
    if (missing.length === 0) return
    const gap = text === "" || text.endsWith("\n") ? "" : "\n"
    await replace(path, `${text}${gap}${missing.join("\n")}\n`)
  })

const Marker = Schema.fromJsonString(Schema.Struct({ tolerated: Schema.Array(Schema.String) }))
const decodeMarker = Schema.decodeUnknownResult(Marker)
const markerPath = (gitDirectory: string) => join(gitDirectory, "reprise-prepared.json")

/** What `markPrepared` kept; undefined when this worktree was not prepared to the end. */
export const preparedMarker = (gitDirectory: string) =>
  attempt("reading the worktree's marker", async () =>
    Result.getOrUndefined(decodeMarker(await textOf(markerPath(gitDirectory))))
  )

/** Remembers that a worktree's `postCreate` commands have run, and what they left behind. */
export const markPrepared = (gitDirectory: string, tolerated: ReadonlyArray<string>) =>
  attempt("marking the worktree as prepared", () => replace(markerPath(gitDirectory), JSON.stringify({ tolerated })))
