/** What an agent's command can write that no git gets to the end of, for tables of tests: small on the disk, quick to make. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, truncateSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { deflateSync } from "node:zlib"

export interface HostileTree {
  /** As the end of a title: `a commit of a billion files`. */
  readonly name: string
  /** Writes it into a repository with a commit, after which `HEAD` has it, or the working tree. */
  readonly write: (root: string) => void
  /** What git is asked then. */
  readonly ask: ReadonlyArray<string>
  /** What the message names of it. */
  readonly names?: RegExp
}

const user = ["-c", "user.name=Agent", "-c", "user.email=agent@reprise.invalid"]
const git = (root: string, args: ReadonlyArray<string>, input: string | Buffer = "") =>
  execFileSync("git", ["-C", root, ...user, ...args], {
    encoding: "utf8",
    input,
    stdio: ["pipe", "pipe", "pipe"]
  }).trim()

const commitTree = (root: string, tree: string) =>
  git(root, ["update-ref", "HEAD", git(root, ["commit-tree", "-p", "HEAD", "-m", "Work", tree])])

/** A loose object, as git stores it. */
const looseObject = (root: string, kind: string, content: Buffer): string => {
  const text = Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content])
  const name = createHash("sha1").update(text).digest("hex")
  mkdirSync(join(root, ".git/objects", name.slice(0, 2)), { recursive: true })
  writeFileSync(join(root, ".git/objects", name.slice(0, 2), name.slice(2)), deflateSync(text))
  return name
}

/** More than `GitLimits` of the tests allow. */
const unfoldedBytes = 64 * 1024 * 1024

/** The index has only the lower 32 bits of a size: git takes it for the empty file that it was, until it has read it. */
const endless = (root: string, attributes = "") => {
  writeFileSync(join(root, "huge"), "")
  writeFileSync(join(root, ".gitattributes"), attributes)
  git(root, ["add", "."])
  git(root, ["commit", "--quiet", "--message", "Work"])
  truncateSync(join(root, "huge"), 1024 ** 4)
}

const pattern = `d/${"*a".repeat(24)}*b/f`
const matched = join("d", "a".repeat(60), "f")

const writeDeep = (root: string, path: string, text: string) => {
  mkdirSync(join(root, dirname(path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

const status = ["status", "--porcelain"]
const changes = ["diff", "--stat", "HEAD^", "HEAD", "--"]

export const hostileTrees: ReadonlyArray<HostileTree> = [
  {
    name: "a commit of a billion files",
    ask: changes,
    write: (root) => {
      const names = "0123456789"
      let tree = git(root, ["rev-parse", "HEAD^{tree}"])
      for (let depth = 0; depth < 9; depth++) {
        tree = git(root, ["mktree"], [...names].map((name) => `040000 tree ${tree}\t${name}\n`).join(""))
      }
      commitTree(root, tree)
    }
  },
  {
    name: "a commit of a file that unfolds to 64 MB",
    ask: changes,
    write: (root) => {
      const blob = looseObject(root, "blob", Buffer.alloc(unfoldedBytes))
      commitTree(root, git(root, ["mktree"], `100644 blob ${blob}\tfile\n`))
    }
  },
  {
    name: "a commit whose message unfolds to 64 MB",
    ask: ["rev-parse", "--verify", "HEAD^{commit}"],
    write: (root) => {
      const tree = git(root, ["rev-parse", "HEAD^{tree}"])
      const who = "Agent <agent@reprise.invalid> 1700000000 +0000"
      const head = `tree ${tree}\nparent ${git(root, ["rev-parse", "HEAD"])}\nauthor ${who}\ncommitter ${who}\n\n`
      const content = Buffer.alloc(unfoldedBytes, "x")
      content.write(head)
      git(root, ["update-ref", "HEAD", looseObject(root, "commit", content)])
    }
  },
  {
    name: "a tracked file of a terabyte",
    ask: status,
    write: (root) => endless(root),
    names: /\/huge.*1099511627776/
  },
  {
    name: "a tracked file of a terabyte in which git is to put names",
    ask: status,
    write: (root) => endless(root, "* ident\n"),
    names: /\/huge.*1099511627776/
  },
  {
    name: "a pattern of ignored files with many asterisks",
    ask: status,
    write: (root) => {
      writeFileSync(join(root, ".gitignore"), `${pattern}\n`)
      writeDeep(root, matched, "")
    },
    names: /\.gitignore has more asterisks in line 1/
  },
  {
    name: "a pattern of attributes with many asterisks",
    ask: status,
    write: (root) => {
      writeDeep(root, matched, "one")
      git(root, ["add", "."])
      git(root, ["commit", "--quiet", "--message", "Work"])
      writeFileSync(join(root, matched), "two")
      writeFileSync(join(root, ".gitattributes"), `${pattern} text\n`)
    },
    names: /\.gitattributes has more asterisks in line 1/
  },
  {
    name: "a commit with folders 15 000 deep",
    ask: changes,
    write: (root) => {
      const stream = `commit refs/heads/deep\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx\nfrom ${git(root, ["rev-parse", "HEAD"])}\nM 100644 inline ${"a/".repeat(15_000)}f\ndata 1\nx\n`
      git(root, ["fast-import", "--quiet"], stream)
      git(root, ["update-ref", "HEAD", "refs/heads/deep"])
    }
  }
]
