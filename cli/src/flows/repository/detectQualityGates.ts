/** What a repository says about its own checks. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

const npmScripts = (root: string): ReadonlyArray<string> => {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    if (typeof manifest !== "object" || manifest === null || !("scripts" in manifest)) return []
    return typeof manifest.scripts === "object" && manifest.scripts !== null ? Object.keys(manifest.scripts) : []
  } catch {
    return []
  }
}

/** Commands that most likely are the quality gates of the repository at `root`; none when nothing is recognised. */
export const detectQualityGates = (root: string): ReadonlyArray<string> => {
  const has = (file: string) => existsSync(join(root, file))
  const scripts = npmScripts(root)
  if (scripts.length > 0) {
    const wanted = scripts.includes("verify") ? ["verify"] : ["lint", "test"].filter((name) => scripts.includes(name))
    return wanted.map((name) => (name === "test" ? "npm test" : `npm run ${name}`))
  }
  if (has("Cargo.toml")) return ["cargo test"]
  if (has("go.mod")) return ["go vet ./...", "go test ./..."]
  if (has("pyproject.toml") || has("setup.py")) return ["python3 -m pytest"]
  if (has("Makefile")) return ["make test"]
  return []
}
