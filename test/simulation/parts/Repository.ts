/** A git repository as far as a workspace looks at one: a line of commits, a working tree, and files that are not committed. */
interface Commit {
  readonly hash: string
  readonly subject: string
  readonly files: ReadonlyMap<string, string>
}

const hashLength = 40

export class Repository {
  readonly directory: string
  readonly commits: Array<Commit> = []
  /** The working tree. */
  files = new Map<string, string>()
  readonly #number: number

  /** `number`: no two repositories have a commit in common. */
  constructor(directory: string, number: number, files: ReadonlyMap<string, string>) {
    this.directory = directory
    this.#number = number
    this.files = new Map(files)
    this.commit("begin")
  }

  get head(): string {
    return this.commits.at(-1)?.hash ?? ""
  }

  commit(subject: string): string {
    const n = this.commits.length + 1
    const hash = `${this.#number}${n.toString(16).padStart(4, "0")}`.padEnd(hashLength, "c0ffee")
    this.commits.push({ hash, subject, files: new Map(this.files) })
    return hash
  }

  write(path: string, text: string): void {
    this.files.set(path, text)
  }

  /** Commits one file alone. */
  commitFile(path: string, subject: string): string {
    const text = this.files.get(path)
    const others = this.files
    this.files = new Map(this.commits.at(-1)?.files)
    if (text !== undefined) this.files.set(path, text)
    const hash = this.commit(subject)
    this.files = others
    return hash
  }

  dirty(): ReadonlyArray<string> {
    return this.#differences(this.commits.at(-1)?.files ?? new Map(), this.files)
  }

  /** Files that differ between two commits; `^` after a hash: the commit before it. */
  changed(from: string, to: string): ReadonlyArray<string> {
    return this.#differences(this.#filesAt(from), this.#filesAt(to))
  }

  /** The commits whose hashes begin with this. */
  named(name: string): ReadonlyArray<Commit> {
    return this.commits.filter(({ hash }) => hash.startsWith(name.toLowerCase()))
  }

  /** Its place in the line; -1: there is none. */
  indexOf(name: string): number {
    return name === "HEAD" ? this.commits.length - 1 : this.commits.findIndex(({ hash }) => hash.startsWith(name))
  }

  fileAt(commit: string, path: string): string | undefined {
    return this.#filesAt(commit).get(path)
  }

  #filesAt(name: string): ReadonlyMap<string, string> {
    const isParent = name.endsWith("^")
    const at = this.indexOf(isParent ? name.slice(0, -1) : name)
    return this.commits[isParent ? at - 1 : at]?.files ?? new Map()
  }

  #differences(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): ReadonlyArray<string> {
    return [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path)).sort()
  }
}
