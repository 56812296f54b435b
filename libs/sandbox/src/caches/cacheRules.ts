/**
 * Where package managers keep what they fetch and build, and what of it one quality gate leaves to the next of its run
 * (docs/decisions/0049-caches-that-gates-trust.md). Pure.
 */

interface Cache {
  /** Its folder among the caches. */
  readonly folder: string
  /** The variable that names the folder, and what it says of it; default: the folder itself. */
  readonly variable: string
  readonly value?: (folder: string) => string
  /**
   * Packages and what was built of them, as paths in the folder; `*` stands for any letters of a name. All else is
   * configuration, programs or notes that the tool would obey, and does not outlive a gate: clones of git among it, since
   * each has a configuration.
   */
  readonly packages: ReadonlyArray<string>
}

/** The tool reads neither configuration nor programs of its own from the folder. */
const everything = ["*"]

/** As far as their documentation and sources say: what is not named is fetched or made anew in each gate. */
export const caches: ReadonlyArray<Cache> = [
  // Not `_npx`: programs that `npx` starts as they are.
  { folder: "npm", variable: "npm_config_cache", packages: ["_cacache"] },
  { folder: "pnpm", variable: "npm_config_store_dir", packages: everything },
  { folder: "yarn", variable: "YARN_CACHE_FOLDER", packages: everything },
  { folder: "yarn-global", variable: "YARN_GLOBAL_FOLDER", packages: ["cache", "metadata"] },
  { folder: "bun", variable: "BUN_INSTALL_CACHE_DIR", packages: ["*@*", "*.npm"] },
  // Not what was checked and compiled before, nor what programs stored.
  { folder: "deno", variable: "DENO_DIR", packages: ["npm", "deps", "remote"] },
  { folder: "pip", variable: "PIP_CACHE_DIR", packages: ["http*", "wheels"] },
  // Not the environments of `uvx`, nor what is known of interpreters.
  {
    folder: "uv",
    variable: "UV_CACHE_DIR",
    packages: ["archive-*", "wheels-*", "simple-*", "sdists-*", "built-wheels-*", "flat-index-*"]
  },
  { folder: "poetry", variable: "POETRY_CACHE_DIR", packages: ["cache", "artifacts"] },
  // Not `config.toml`, nor `bin`.
  {
    folder: "cargo",
    variable: "CARGO_HOME",
    packages: ["registry/index", "registry/cache", "registry/src"]
  },
  { folder: "go-build", variable: "GOCACHE", packages: everything },
  { folder: "go-mod", variable: "GOMODCACHE", packages: ["cache/download", "*.*"] },
  // Not `init.d`, `gradle.properties`, nor what a daemon would load.
  { folder: "gradle", variable: "GRADLE_USER_HOME", packages: ["caches", "wrapper/dists", "jdks"] },
  {
    folder: "maven",
    variable: "MAVEN_ARGS",
    value: (folder) => `-Dmaven.repo.local=${folder}`,
    packages: everything
  },
  { folder: "nuget", variable: "NUGET_PACKAGES", packages: everything },
  { folder: "composer", variable: "COMPOSER_CACHE_DIR", packages: ["files", "repo"] },
  // Not `ccache.conf`, which names a compiler. Its results are in folders of one hexadecimal digit.
  { folder: "ccache", variable: "CCACHE_DIR", packages: [..."0123456789abcdef"] }
]

/**
 * `folder`: as a command sees it. An environment of Poetry belongs to the workspace, as `node_modules` does: else a quality
 * gate would not find the one that an author made.
 */
export const cacheVariables = (folder: string): Record<string, string> => ({
  ...Object.fromEntries(
    caches.map(({ folder: name, value = (path: string) => path, variable }) => [variable, value(`${folder}/${name}`)])
  ),
  POETRY_VIRTUALENVS_IN_PROJECT: "true"
})

/** What outlives a gate, as paths with `*` below the folder of the caches. */
export const keptPackages: ReadonlyArray<string> = caches.flatMap(({ folder, packages }) =>
  packages.map((path) => `${folder}/${path}`)
)

const matchesName = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`, "s").test(name)

/** Whether a path is kept as it is, is a folder above something that is, or is neither. */
export const fateOf = (patterns: ReadonlyArray<string>, path: string): "kept" | "above" | "removed" => {
  const names = path.split("/")
  const fits = patterns
    .map((pattern) => pattern.split("/"))
    .filter((parts) => names.every((name, at) => parts[at] !== undefined && matchesName(parts[at], name)))
  if (fits.some((parts) => parts.length === names.length)) return "kept"
  return fits.length > 0 ? "above" : "removed"
}
