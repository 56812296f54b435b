/**
 * Where git's store holds copies of an object: in packs, in an index over several packs, and in files of their own, also those of
 * other repositories that the store borrows from. Which of several copies git reads depends on times that anybody can set, and on
 * what it read before; so each is asked for its objects alone.
 */
import type { BigIntStats } from "node:fs"
import { lstat, mkdir, readdir, rm, stat, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { hasCode } from "./files.ts"
import { inGroups } from "./inGroups.ts"
import { onDisk, refused } from "./ownIndex.ts"
import { type GitOptions, runGit } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"
import { makeTemporaryFolder } from "./temporaryFolder.ts"

/** What tells a file from any other, and from itself after a change, where its file system tells of each (`tellsChanges`). */
const stateOf = ({ ctimeNs, dev, ino, size }: BigIntStats) => `${dev}:${ino}:${ctimeNs}:${size}`

interface FileState {
  readonly state: string
  readonly device: bigint
  /** Of its last change. */
  readonly changedMs: number
}

const read = (found: BigIntStats): FileState => ({
  state: stateOf(found),
  device: found.dev,
  changedMs: Number(found.ctimeMs)
})

const newest = (files: ReadonlyArray<FileState>) => Math.max(...files.map(({ changedMs }) => changedMs))

/** What holds objects and is looked at by itself. `links`: what a store must have that is to see it alone, by its names there. */
export interface PackSource {
  /** Another one after any change of its files. */
  readonly id: string
  readonly changedMs: number
  readonly devices: ReadonlyArray<bigint>
  readonly links: ReadonlyArray<readonly [path: string, name: string]>
}

const ignoreMissing = (error: unknown) => (hasCode(error, "ENOENT", "ENOTDIR") ? undefined : Promise.reject(error))

const namesIn = async (folder: string): Promise<ReadonlyArray<string>> =>
  (await readdir(folder).catch(ignoreMissing)) ?? []

/** A file as git opens it, through links. */
const fileAt = async (path: string): Promise<FileState | undefined> => {
  const found = await stat(path, { bigint: true }).catch(ignoreMissing)
  return found?.isFile() === true ? read(found) : undefined
}

const sourceOf = (path: string, files: ReadonlyArray<FileState>, links: PackSource["links"]): PackSource => ({
  id: [path, ...files.map(({ state }) => state)].join(" "),
  changedMs: newest(files),
  devices: files.map(({ device }) => device),
  links
})

/** It says for many packs at once where an object is, whatever their own indexes say. */
const manyPacks = async (packs: string, names: ReadonlyArray<string>): Promise<ReadonlyArray<PackSource>> => {
  const layers = (await namesIn(join(packs, "multi-pack-index.d"))).map((name) => join("multi-pack-index.d", name))
  const indexes = [...(names.includes("multi-pack-index") ? ["multi-pack-index"] : []), ...layers].sort()
  const found = (await Promise.all(indexes.map((name) => fileAt(join(packs, name))))).filter(
    (file) => file !== undefined
  )
  return found.length === 0 ? [] : [sourceOf(join(packs, "multi-pack-index"), found, [[packs, "pack"]])]
}

const onePack = async (packs: string, index: string): Promise<ReadonlyArray<PackSource>> => {
  const pack = `${index.slice(0, -".idx".length)}.pack`
  const [indexFile, packFile] = await Promise.all([fileAt(join(packs, index)), fileAt(join(packs, pack))])
  if (indexFile === undefined || packFile === undefined) return []
  const links = [index, pack].map((name) => [join(packs, name), join("pack", name)] as const)
  return [sourceOf(join(packs, index), [indexFile, packFile], links)]
}

/** `objects`: a folder of objects, as `.git/objects`. */
export const packSources = async (objects: string): Promise<ReadonlyArray<PackSource>> => {
  const packs = join(objects, "pack")
  const names = await namesIn(packs)
  const indexes = names.filter((name) => name.endsWith(".idx"))
  const single = await inGroups(indexes, (name) => onePack(packs, name))
  return [...single.flat(), ...(await manyPacks(packs, names))]
}

export interface LooseCopy extends FileState {
  readonly hash: string
  /** git does not look what else it opens, and may wait forever. */
  readonly isFile: boolean
}

/** Those of some objects that have a file of their own in a folder of objects. */
export const looseCopies = async (objects: string, hashes: ReadonlySet<string>): Promise<ReadonlyArray<LooseCopy>> => {
  const folders = [...new Set([...hashes].map((hash) => hash.slice(0, 2)))]
  const named = await inGroups(folders, async (folder) =>
    (await namesIn(join(objects, folder))).map((name) => `${folder}${name}`).filter((hash) => hashes.has(hash))
  )
  const found = await inGroups(named.flat(), async (hash) => {
    const path = join(objects, hash.slice(0, 2), hash.slice(2))
    const file = await lstat(path, { bigint: true }).catch(ignoreMissing)
    return file === undefined ? [] : [{ hash, isFile: file.isFile(), ...read(file) }]
  })
  return found.flat()
}

/** As a store sees the files that some objects have of their own, and no packs. */
export const looseLinks = (objects: string, hashes: ReadonlyArray<string>): PackSource["links"] =>
  [...new Set(hashes.map((hash) => hash.slice(0, 2)))].map((name) => [join(objects, name), name] as const)

/** As git quotes a path with a quotation mark in it; one with control characters cannot be read. */
const decodeQuoted = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.String))

/** The folders of objects that a repository reads, its own first. */
export const objectFolders = Effect.fnUntraced(function* (directory: string, options: GitOptions) {
  const named = yield* runGit(
    directory,
    ["rev-parse", "--path-format=absolute", "--git-path", "objects", "--git-path", "objects/info/alternates"],
    options
  )
  const [own = "", alternates = ""] = named.stdout.split("\n")
  if (named.exitCode !== 0 || own === "") return yield* refused("rev-parse", named)
  if ((yield* onDisk(() => stat(alternates).catch(ignoreMissing))) === undefined) return [own]
  // Each follows further ones in turn.
  const counted = yield* runGit(directory, ["-c", "core.quotePath=false", "count-objects", "-v"], options)
  if (counted.exitCode !== 0) return yield* refused("count-objects", counted)
  const borrowed = counted.stdout.split("\n").flatMap((line) => /^alternate: (.+)$/.exec(line)?.[1] ?? [])
  const paths = yield* Effect.forEach(borrowed, (path) =>
    path.startsWith('"')
      ? decodeQuoted(path).pipe(
          Effect.catch(() => refused("count-objects", { exitCode: 0, stderr: `alternate: ${path}` }))
        )
      : Effect.succeed(path)
  )
  return [own, ...paths]
})

/** A repository that has nothing but what some links lead to: no settings of another one, and nobody to fetch from. */
const makeStore = async (links: PackSource["links"], format: string): Promise<string> => {
  const folder = await makeTemporaryFolder("objects")
  const objects = join(folder, "objects")
  for (const name of ["refs", "objects", "objects/pack"]) await mkdir(join(folder, name))
  if (links.some(([, name]) => name === "pack")) await rm(join(objects, "pack"), { recursive: true })
  for (const [path, name] of links) await symlink(path, join(objects, name))
  await writeFile(join(folder, "HEAD"), "ref: refs/heads/main\n")
  const config = `[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = ${format}\n`
  await writeFile(join(folder, "config"), config)
  return folder
}

/** Runs a git that sees only what some links lead to. `hash`: one of its objects, whose length tells the format. */
export const gitOfStore = Effect.fnUntraced(function* (
  links: PackSource["links"],
  hash: string,
  args: ReadonlyArray<string>,
  { environment, input, largestOutputBytes, take, timeoutMs }: GitOptions
): Effect.fn.Return<void, ProgramFailed> {
  yield* Effect.acquireUseRelease(
    onDisk(() => makeStore(links, hash.length === 64 ? "sha256" : "sha1")),
    (folder) =>
      runGit(folder, ["--git-dir", folder, ...args], {
        settings: ["core.multiPackIndex=true"],
        ...(environment === undefined ? {} : { environment }),
        ...(input === undefined ? {} : { input }),
        ...(largestOutputBytes === undefined ? {} : { largestOutputBytes }),
        ...(take === undefined ? {} : { take }),
        ...(timeoutMs === undefined ? {} : { timeoutMs })
      }),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
})
