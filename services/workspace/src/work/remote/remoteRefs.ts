/** What a remote itself says that it has. Pure. */

/** Full hashes of commits, or of what else a tag stands for. */
export interface RemoteRefs {
  readonly head?: string
  /** Undefined: it has none, or does not say. */
  readonly defaultBranch?: string
  readonly branches: ReadonlyMap<string, string>
  readonly tags: ReadonlyMap<string, string>
}

export const askedRefs = ["HEAD", "refs/heads/*", "refs/tags/*"]

/** The output of `git ls-remote --symref`. Of an annotated tag what it stands for comes after it, and counts. */
export const readRemoteRefs = (listed: string): RemoteRefs => {
  let named: Pick<RemoteRefs, "head" | "defaultBranch"> = {}
  const branches = new Map<string, string>()
  const tags = new Map<string, string>()
  for (const line of listed.split("\n")) {
    const [value = "", ref = ""] = line.split("\t")
    const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1]
    const tag = /^refs\/tags\/(.+?)(?:\^\{\})?$/.exec(ref)?.[1]
    const defaultBranch = /^ref: refs\/heads\/(.+)$/.exec(value)?.[1]
    if (ref === "HEAD" && defaultBranch !== undefined) named = { ...named, defaultBranch }
    else if (!/^[0-9a-f]{40,64}$/.test(value)) continue
    else if (ref === "HEAD") named = { ...named, head: value }
    else if (branch !== undefined) branches.set(branch, value)
    else if (tag !== undefined) tags.set(tag, value)
  }
  return { ...named, branches, tags }
}

/** What a name stands for at the remote, a branch before a tag; without a name its default branch. */
export const atRemote = ({ branches, head, tags }: RemoteRefs, ref: string | undefined): string | undefined =>
  ref === undefined ? head : (branches.get(ref) ?? tags.get(ref))
