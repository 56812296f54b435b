/**
 * Fixtures are pieces of code that break a rule. A test plants them in a copy of the repository and runs the real tool
 * with the repository's own configuration, so that what is tested is the rule that the checks use.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { listPaths, repository } from "../../src/sources.ts"

export interface Fixture {
  /** What it shows, in a few words: the name of its file. */
  readonly name: string
  /** The rules that it breaks, sorted; none for code that is fine. */
  readonly breaks: ReadonlyArray<string>
  /** Texts by the path at which they are planted. */
  readonly files: ReadonlyMap<string, string>
}

/**
 * A fixture begins with `// breaks: rule, rule` or `// breaks: nothing`; each of its files begins with `// plant: path`.
 */
export const readFixtures = (kind: "boundaries" | "lint"): ReadonlyArray<Fixture> => {
  const folder = join(repository, "house/fixtures", kind)
  return readdirSync(folder)
    .sort()
    .map((file) => {
      const [head = "", ...parts] = readFileSync(join(folder, file), "utf8").split("// plant: ")
      const breaks = /^\/\/ breaks: (.*)$/m.exec(head)?.[1] ?? ""
      return {
        name: file.replace(/\.tsx?$/, "").replaceAll("-", " "),
        breaks: breaks === "nothing" ? [] : breaks.split(", ").sort(),
        files: new Map(
          parts.map((part) => {
            const end = part.indexOf("\n")
            return [part.slice(0, end).trim(), part.slice(end + 1)] as const
          })
        )
      }
    })
}

/** A copy of the repository's sources and configuration with the fixtures planted; `remove` deletes it. */
export const plantAll = (fixtures: ReadonlyArray<Fixture>) => {
  const root = mkdtempSync(join(tmpdir(), "reprise-planted-"))
  for (const path of listPaths(repository)) {
    if (/^(cli|libs|services)\//.test(path) ? /\/src\/|package\.json$/.test(path) : !path.includes("/")) {
      cpSync(join(repository, path), join(root, path), { recursive: true })
    }
  }
  linkPackages(root)
  for (const [path, text] of fixtures.flatMap(({ files }) => [...files])) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return { root, remove: () => rmSync(root, { recursive: true }) }
}

/** Links to the installed packages; those of the workspaces lead into the copy, as they do in the repository. */
const linkPackages = (root: string) => {
  const installed = join(repository, "node_modules")
  const own = join(root, "node_modules/@reprise")
  mkdirSync(own, { recursive: true })
  for (const name of readdirSync(installed)) {
    if (name !== "@reprise") symlinkSync(join(installed, name), join(root, "node_modules", name))
  }
  for (const area of ["libs", "services"]) {
    for (const folder of readdirSync(join(root, area))) {
      const { name }: { readonly name: string } = JSON.parse(
        readFileSync(join(root, area, folder, "package.json"), "utf8")
      )
      symlinkSync(join(root, area, folder), join(root, "node_modules", name))
    }
  }
}
