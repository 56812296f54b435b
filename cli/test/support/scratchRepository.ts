/** A repository and a user's folder of settings of their own for each test of a file. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach } from "vitest"
import { type Project, projectAt } from "../../src/project/Project.ts"

/** Makes them before each test of the file and removes them after it; the getters tell those of the test that runs. */
export const scratchRepository = () => {
  let folder: string
  let project: Project
  let before: string | undefined

  const git = (...args: ReadonlyArray<string>) => execFileSync("git", [...args], { cwd: project.root, stdio: "ignore" })
  const write = (path: string, text: string | Buffer) => {
    const file = join(project.root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "reprise-repository-")))
    project = projectAt(join(folder, "repository"))
    mkdirSync(project.root)
    git("init", "--quiet")
    before = process.env["XDG_CONFIG_HOME"]
    process.env["XDG_CONFIG_HOME"] = join(folder, "config")
  })

  afterEach(() => {
    if (before === undefined) delete process.env["XDG_CONFIG_HOME"]
    else process.env["XDG_CONFIG_HOME"] = before
    rmSync(folder, { recursive: true, force: true })
  })

  return {
    /** Holds the repository, the user's folder, and what else a test puts beside them. */
    get folder() {
      return folder
    },
    get project() {
      return project
    },
    /** Reprise's part of the user's settings. */
    get userFolder() {
      return join(folder, "config", "reprise")
    },
    git,
    write,
    track: (path: string, text: string | Buffer) => {
      write(path, text)
      git("add", "--force", path)
    }
  }
}
