/**
 * Objects that git shows in the place of others, as a ref below `refs/replace` says. Reprise's git, and that of commands, obeys none;
 * the user's does, and would check out what nobody reviewed. Commands cannot write that folder, but `packed-refs` and reftables,
 * in which any ref may be, they have to write.
 */
import { createHash } from "node:crypto"
import { open, rename, rm, rmdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import {
  createPrivateFile,
  type Replacement,
  readForeignFile,
  readPackedRefs,
  readPrivateFile,
  replacementFolders,
  replacementsIn,
  runGit
} from "@reprise/process"
import { Effect, Schema } from "effect"
import type { Environment, GitRepository } from "./askGit.ts"
import { exists } from "./found.ts"
import { gitDirectoriesOf } from "./gitDirectories.ts"

interface Place {
  /** `.reprise/sandbox`. */
  readonly sandboxFolder: string
  /** Of the user. */
  readonly environment: Environment
}

/** `repository`: its directory, or that of a submodule. */
interface InRepository extends Replacement {
  readonly repository: string
}

/** Of a repository with a million refs. */
const largestPackedRefs = 256 * 1024 * 1024

const packedRefs = (repository: string) => join(repository, "packed-refs")

/** Each character is a byte. A link is the user's: those of commands have been moved (`strayEntries.ts`). */
const textOf = async (repository: string): Promise<string | undefined> => {
  const bytes = await readForeignFile(packedRefs(repository), { largestBytes: largestPackedRefs, follow: true })
  return bytes?.toString("latin1")
}

/** Whether commands may have made some: most repositories have none, and are looked at often. */
const mayHaveSome = (repository: string, packed: string | undefined, environment: Environment): boolean =>
  exists(join(repository, "reftable")) ||
  // Whatever stands before the name: git takes any blank.
  (packed !== undefined && replacementFolders(environment).some((folder) => packed.includes(`${folder}/`)))

const gitOf = (repository: string) => [`--git-dir=${repository}`]

/** What git takes for refs, each once: without the remark it puts them in order itself. Pure. */
const inAnyOrder = (text: string): string => {
  const refs = text.split("\n").filter((line) => /^[0-9a-f]/.test(line))
  return [...new Map(refs.map((line) => [line.replace(/^[0-9a-f]+\s/, ""), `${line}\n`])).values()].join("")
}

/** git neither lists nor removes each ref where packed refs are not in the order that they promise, or one is there twice. */
const mendOrder = async (repository: string): Promise<void> => {
  const lock = `${packedRefs(repository)}.lock`
  const file = await open(lock, "wx")
  try {
    await file.writeFile(inAnyOrder((await textOf(repository)) ?? ""), "latin1")
    await rename(lock, packedRefs(repository))
  } catch (error) {
    await rm(lock, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/** Without those in a file of their own: the user alone can have made one. */
const packedIn = async (repository: string, environment: Environment): Promise<ReadonlyArray<InRepository>> => {
  const packed = await textOf(repository)
  if (!mayHaveSome(repository, packed, environment)) return []
  // Another git holds the lock, or says why it cannot read them.
  if (packed !== undefined && readPackedRefs(packed).odd !== undefined)
    await mendOrder(repository).catch(() => undefined)
  const all = await Effect.runPromise(replacementsIn(repository, environment, { environment }, gitOf(repository)))
  return all.flatMap((one) => (exists(join(repository, one.ref)) ? [] : [{ ...one, repository }]))
}

const Record = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ repository: Schema.String, ref: Schema.String, hash: Schema.String }))
)
const decodeRecord = Schema.decodeUnknownSync(Record)
const encodeRecord = Schema.encodeSync(Record)

/** No repository has so many. */
const largestRecord = 16 * 1024 * 1024

const recordOf = ({ common }: GitRepository, sandboxFolder: string) =>
  join(sandboxFolder, "replacements", `${createHash("sha256").update(common).digest("hex").slice(0, 16)}.json`)

/** Those that were there when a sandbox of this folder first looked, which is before its commands could write. */
const firstOf = async (path: string, found: ReadonlyArray<InRepository>): Promise<ReadonlyArray<InRepository>> => {
  const known = async () => {
    const text = await readPrivateFile(path, largestRecord)
    return text === undefined ? undefined : decodeRecord(text)
  }
  const before = await known()
  if (before !== undefined) return before
  await createPrivateFile(path, encodeRecord(found))
  return (await known()) ?? found
}

/** The former one, where another took its place. */
const settle = async (
  { hash, ref, repository }: InRepository,
  before: string | undefined,
  environment: Environment
) => {
  const change = before === undefined ? ["-d", ref, hash] : [ref, before, hash]
  const args = [...gitOf(repository), "update-ref", "--no-deref", ...change]
  const { exitCode, stderr } = await Effect.runPromise(runGit(repository, args, { environment }))
  const left = await packedIn(repository, environment)
  const isLeft = left.some((one) => one.ref === ref && one.hash !== before)
  // git leaves a folder, which commands that run beside would be told that they may not make.
  await rmdir(dirname(join(repository, ref))).catch(() => undefined)
  const said = `${ref} in ${repository}, by which git shows ${hash} in the place of what it is named for`
  return exitCode === 0 && !isLeft
    ? `Removed ${said}: it came while commands ran that could have made it. If it is yours, make it again with 'git replace'.`
    : `Cannot remove ${said}: ${stderr.trim().slice(0, 500)}. Remove it with 'git update-ref --no-deref -d ${ref}'.`
}

/** Removes replacements that were not there first, in the repository and its submodules. Gives a sentence for each. */
export const removeStrayReplacements = async (
  repository: GitRepository,
  { environment, sandboxFolder }: Place
): Promise<ReadonlyArray<string>> => {
  const { repositories } = await gitDirectoriesOf(repository)
  const found = (await Promise.all(repositories.map((one) => packedIn(one, environment)))).flat()
  const first = await firstOf(recordOf(repository, sandboxFolder), found)
  const said: Array<string> = []
  for (const one of found) {
    const before = first.find(({ ref, repository: where }) => ref === one.ref && where === one.repository)?.hash
    if (before !== one.hash) said.push(await settle(one, before, environment))
  }
  return said
}
