/**
 * The files of the repository that the checks look at: what git tracks or would track. A check takes them as a map from
 * path to text, so that a test can plant its own.
 */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** Texts by path, relative to the repository, with `/` between folders. */
export type Sources = ReadonlyMap<string, string>

export const repository = fileURLToPath(new URL("../../", import.meta.url))

/** Fixtures are broken on purpose, so their text is not checked. */
const isRead = (path: string) => /\.(tsx?|md)$/.test(path) && !path.startsWith("house/fixtures/")

/** Every path that git knows, whatever its type. */
export const listPaths = (root: string): ReadonlyArray<string> =>
  execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter((path) => path !== "" && existsSync(join(root, path)))

/** The TypeScript and Markdown files; every other file is there with an empty text. */
export const readSources = (root: string): Sources =>
  new Map(listPaths(root).map((path) => [path, isRead(path) ? readFileSync(join(root, path), "utf8") : ""] as const))

/** Production code: the `src` folders of libraries, services and the command. */
export const productionFiles = (sources: Sources): Sources =>
  new Map([...sources].filter(([path]) => /^(cli|libs\/[^/]+|services\/[^/]+)\/src\/.*\.ts$/.test(path)))

/** Tests of several packages share what is in these. */
export const isForTests = (path: string): boolean => /\/src\/testing(?:\/.+|[^/]*\.ts)$/.test(path)

/** The number of the line, from 1, on which an offset lies. */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length

/** How many lines a file has, without the empty one after the last line feed. */
export const countLines = (text: string): number => (text === "" ? 0 : text.replace(/\n$/, "").split("\n").length)
