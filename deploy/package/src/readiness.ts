/** Whether a version of the package may be published. Pure. */

export interface Release {
  readonly version: string
  /** Files that differ from the commit, as `git status --porcelain` tells them. */
  readonly changedFiles: ReadonlyArray<string>
  /** Tags of the commit. */
  readonly tags: ReadonlyArray<string>
  readonly changelog: string
  /** The versions that the registry has. */
  readonly published: ReadonlyArray<string>
}

const isVersion = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/

/** What stands in the way of a release, a sentence each with what to do. */
export const obstacles = ({ changedFiles, changelog, published, tags, version }: Release): ReadonlyArray<string> => [
  ...(isVersion.test(version) ? [] : [`'${version}' is not a version: correct it in cli/package.json.`]),
  ...(changedFiles.length === 0
    ? []
    : [`${changedFiles.length} files differ from the commit (${changedFiles[0]}, …): commit or stash them.`]),
  ...(tags.includes(`v${version}`) ? [] : [`The commit has no tag v${version}: make it once CI has passed on it.`]),
  ...(changelog.split("\n").some((line) => line.startsWith(`## ${version}`))
    ? []
    : [`CHANGELOG.md has no section '## ${version}': rename 'Unreleased'.`]),
  ...(published.includes(version) ? [`${version} is published already: choose the next version.`] : [])
]
