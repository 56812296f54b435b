/**
 * Finds citations that do not resolve: in comments of TypeScript files, in links of Markdown pages, and in the pages that
 * name files and folders.
 */
import { posix } from "node:path"
import { parseSync } from "oxc-parser"
import { type Page, readPage } from "./markdown.ts"
import { lineAt, type Sources } from "./sources.ts"

export interface BrokenCitation {
  readonly file: string
  readonly line: number
  readonly citation: string
  readonly problem: string
}

/** `docs/plans/` and `docs/reviews/` are folders of a user's repository. */
const cited = /\b(?:docs|libs|services|cli|test|house)\/(?!plans\/|reviews\/)[\w./-]*\w\.md(?:#[\w-]+)?/g
const pages = "run-machine|sessions|session-manager|continuation|gate|protocol|workspace|architecture|glossary|reviewer"
/** A page's bare name, with or without a heading in parentheses: it does not say where the page is. */
const oldStyle = new RegExp(String.raw`\((?:${pages})(?:: [^()]*)?\)|(?<![\w./-])(?:${pages})\.md\b`, "g")
const decision = /\bdecision (\d+)\b/g

/** Pages that name paths in inline code, each of which has to exist. */
const maps = ["README.md", "CONTRIBUTING.md", "docs/design/README.md", "docs/security.md"]

/** A comment as one line, because a citation may be wrapped. */
const flatten = (comment: string) => comment.replace(/\s*\n\s*\*?\s*/g, " ")

interface Repository {
  readonly has: (path: string) => boolean
  readonly hasDecision: (number: string) => boolean
  readonly page: (path: string) => Page | undefined
}

const lookUp = (sources: Sources): Repository => {
  const folders = new Set([...sources.keys()].flatMap((path) => parents(path)))
  const parsed = new Map<string, Page>()
  const page = (path: string) => {
    const known = parsed.get(path)
    const text = sources.get(path)
    if (known !== undefined || text === undefined || !path.endsWith(".md")) return known
    const read = readPage(text)
    parsed.set(path, read)
    return read
  }
  return {
    has: (path) => sources.has(path) || folders.has(path.replace(/\/$/, "")),
    hasDecision: (number) =>
      [...sources.keys()].some((path) => path.startsWith(`docs/decisions/${number.padStart(4, "0")}-`)),
    page
  }
}

const parents = (path: string): ReadonlyArray<string> => {
  const folder = posix.dirname(path)
  return folder === "." ? ["."] : [folder, ...parents(folder)]
}

/** What is wrong with a path and an optional heading; nothing when both exist. */
const problemOf = (repository: Repository, path: string, anchor: string | undefined): string | undefined => {
  if (!repository.has(path)) return "there is no such file"
  if (anchor === undefined || anchor === "") return undefined
  const page = repository.page(path)
  return page === undefined || page.slugs.has(anchor) ? undefined : `${path} has no heading #${anchor}`
}

const inComments = (repository: Repository, file: string, text: string): ReadonlyArray<BrokenCitation> =>
  parseSync(file, text).comments.flatMap((comment) => {
    const said = flatten(comment.value)
    const broken = (citation: string, problem: string | undefined) =>
      problem === undefined ? [] : [{ file, line: lineAt(text, comment.start), citation, problem }]
    return [
      ...[...said.matchAll(cited)].flatMap(([citation]) => {
        const [path = "", anchor] = citation.split("#")
        return broken(citation, problemOf(repository, path, anchor))
      }),
      ...[...said.matchAll(oldStyle)].flatMap(([citation]) =>
        broken(citation, "cite the page by its path, as docs/design/run-machine.md#heading")
      ),
      ...[...said.matchAll(decision)].flatMap(([citation, number = ""]) =>
        broken(citation, repository.hasDecision(number) ? undefined : "there is no such decision")
      )
    ]
  })

const inLinks = (repository: Repository, file: string): ReadonlyArray<BrokenCitation> =>
  (repository.page(file)?.links ?? []).flatMap(({ text, line }) => {
    if (/^[a-z][a-z+.-]*:/i.test(text)) return []
    const [target = "", anchor] = text.split("#")
    const path = target === "" ? file : posix.join(posix.dirname(file), decodeURIComponent(target))
    const problem = problemOf(repository, path, anchor)
    return problem === undefined ? [] : [{ file, line, citation: text, problem }]
  })

const inMap = (repository: Repository, file: string): ReadonlyArray<BrokenCitation> =>
  (maps.includes(file) ? (repository.page(file)?.codes ?? []) : [])
    .filter(({ text }) => /^(?:docs|libs|services|cli|test|house)\/[\w./-]*$/.test(text))
    .filter(({ text }) => !repository.has(text))
    .map(({ text, line }) => ({ file, line, citation: text, problem: "there is no such file or folder" }))

/** Every citation that does not resolve, in the order of the files. */
export const findBrokenCitations = (sources: Sources): ReadonlyArray<BrokenCitation> => {
  const repository = lookUp(sources)
  return [...sources].flatMap(([file, text]) =>
    file.endsWith(".ts")
      ? inComments(repository, file, text)
      : [...inLinks(repository, file), ...inMap(repository, file)]
  )
}
