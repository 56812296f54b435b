/** What is installed: versions of packages of this folder, and programs of the system. */
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { delimiter, join } from "node:path"

export const folder = import.meta.dirname

export const packageVersion = (name: string): string =>
  JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version

export const programVersion = (program: string): string =>
  /\d+\.\d+(\.\d+)?/.exec(execFileSync(program, ["--version"], { encoding: "utf8" }))?.[0] ?? "of an unknown version"

/** A program on the PATH. */
export const onPath = (name: string): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((one) => join(one, name))
    .find((path) => existsSync(path))

const debian = "/usr/lib/postgresql"

/** The folder of PostgreSQL's programs: Debian does not put them on the PATH. */
export const postgresPrograms = (): string | undefined => {
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = versions.map((version) => join(debian, version, "bin"))
  const own = onPath("initdb")
  return [...folders, ...(own === undefined ? [] : [join(own, "..")])].find((one) =>
    ["initdb", "postgres", "createdb"].every((program) => existsSync(join(one, program)))
  )
}
