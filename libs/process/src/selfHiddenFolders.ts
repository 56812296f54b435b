/**
 * Files that a `.gitignore` hides which is in no commit: neither the commit nor `git status` shows them, and a quality gate may
 * obey them. Pure.
 */
import { posix } from "node:path"
import { asClearText, type Bytes } from "./pathBytes.ts"

/**
 * Folders that tools fill and hide as a whole, by a `.gitignore` inside. They are believed as what a commit says to ignore is, such
 * as `node_modules`. Any other one has to be named in a `.gitignore` of a commit, where the reviewer sees it; so have `venv` and
 * `htmlcov`, in which Python's own runner, and pytest in the second, look for tests.
 */
const ofTools: ReadonlySet<string> = new Set([
  // Python: environments, and caches of tests, checks and builds.
  ...[".venv", ".tox", ".nox", ".pixi", ".pdm-build", ".pytest_cache", ".mypy_cache", ".ruff_cache"],
  ...[".pyre", ".pytype", ".hypothesis", ".import_linter_cache", ".complexipy_cache", ".ipynb_checkpoints"],
  // Node: hooks of husky, caches of builds.
  ...[
    ".angular",
    ".astro",
    ".nuxt",
    ".output",
    ".react-router",
    ".svelte-kit",
    ".turbo",
    ".vinxi",
    ".wrangler",
    ".wxt"
  ],
  // Ruby and Elixir: what language servers, which agents start, build for themselves; caches of a site.
  ...[".ruby-lsp", ".jekyll-cache", ".elixir_ls", ".lexical"],
  // Others.
  ...[".terraform", ".dart_tool", ".direnv", ".devenv", ".devbox"]
])

const isOfTool = (folder: string) =>
  ofTools.has(posix.basename(folder)) || folder === ".husky/_" || folder.endsWith("/.husky/_")

/** OpenCode writes it whenever it starts where that folder is, beside settings that may be committed; no command can write there. */
const ofOpenCode = ".opencode/.gitignore"

/** A file that is ignored, and where the rule stands that says so. */
export interface Ignored {
  readonly path: string
  /** A path in the tree is relative. */
  readonly source: string
}

/** The records of `git check-ignore --verbose -z`, as clear texts. */
export const readIgnored = (listed: Bytes): ReadonlyArray<Ignored> => {
  const fields = listed.split("\0")
  const found: Array<Ignored> = []
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [source = "", , , path = ""] = fields.slice(at, at + 4).map(asClearText)
    found.push({ path, source })
  }
  return found
}

/** What a commit has: clear texts of files, and of the folders above them. */
export interface Committed {
  readonly files: ReadonlySet<string>
  readonly folders: ReadonlySet<string>
}

const isRuleOfTree = (source: string) => posix.basename(source) === ".gitignore" && !source.startsWith("/")

/** The `.gitignore` files that hide something, and that neither a commit has nor a tool made. */
export const hidingFiles = (ignored: ReadonlyArray<Ignored>, { files, folders }: Committed): ReadonlyArray<string> => {
  const sources = new Set(ignored.map(({ source }) => source).filter(isRuleOfTree))
  return [...sources].filter((source) => {
    const folder = posix.dirname(source)
    return !files.has(source) && source !== ofOpenCode && (folders.has(folder) || !isOfTool(folder))
  })
}
