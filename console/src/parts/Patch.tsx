/** A diff, a file at a time. A file is read and drawn when it is opened; small ones are open. */
import { type FileDiffMetadata, parsePatchFiles } from "@pierre/diffs"
import { FileDiff } from "@pierre/diffs/react"
import type { ConsoleChangedFile } from "@reprise/protocol"
import { useMemo, useState } from "react"
import { count } from "../data/words.ts"
import LongText from "./LongText.tsx"
import { useTheme } from "./theme.ts"
import { visible } from "./visible.ts"

/** Lines of a file that is shown without being asked for, and of all such files; each one costs time by itself. */
const openLines = 400
const openLinesInAll = 1_000
const mostOpen = 12
/** A longer file is shown as plain lines, of which only those that are seen are in the page: drawing it stops the page. */
const mostDrawnLines = 2_000
/** So is one with a line that is longer than anybody reads. */
const longestDrawn = 200_000

/** The themes' own green of added lines has too little contrast on its background. */
const contrast =
  ":host { --diffs-bg-addition-override: light-dark(#eaf7ee, #12261a); --diffs-bg-deletion-override: light-dark(#fdecec, #2d1416); }"

interface Changed {
  readonly file: ConsoleChangedFile
  /** The patch of this file alone. */
  readonly text: string
  readonly lines: number
}

/** Undefined: it cannot be read, such as one that was cut within a hunk. */
const read = (text: string): FileDiffMetadata | undefined => {
  try {
    return parsePatchFiles(text).flatMap(({ files }) => files)[0]
  } catch {
    return undefined
  }
}

function Drawn({ changed: { file, lines, text } }: { readonly changed: Changed }) {
  const theme = useTheme()
  const safe = useMemo(() => visible(text), [text])
  const isDrawn = file.shown === "whole" && lines <= mostDrawnLines && text.length <= longestDrawn
  const diff = useMemo(() => (isDrawn ? read(safe) : undefined), [isDrawn, safe])
  if (diff === undefined) return <LongText label={`Changes of ${visible(file.path)}`} text={text} />
  return (
    <div className="border-line overflow-x-auto border-t">
      <FileDiff
        fileDiff={diff}
        options={{
          diffStyle: "unified",
          disableFileHeader: true,
          overflow: "wrap",
          theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
          themeType: theme,
          unsafeCSS: contrast,
          hunkSeparators: "simple"
        }}
      />
    </div>
  )
}

const headers: ReadonlyArray<readonly [pattern: RegExp, kind: string]> = [
  [/^new file mode/m, "new"],
  [/^deleted file mode/m, "deleted"],
  [/^rename from/m, "renamed"],
  [/^Binary files/m, "binary"]
]

/** What git says of a file stands before its first lines. */
const kindsOf = (text: string): ReadonlyArray<string> => {
  const [header = ""] = text.split("\n@@", 1)
  return headers.flatMap(([pattern, kind]) => (pattern.test(header) ? [kind] : []))
}

const howMuch: Record<ConsoleChangedFile["shown"], string | undefined> = {
  whole: undefined,
  start: "too long: only its beginning is here",
  none: "too long to be shown here"
}

/** A file's name, what was done with it, and the lines that it adds and removes. */
function About({ file: { added, path, removed, shown }, text }: Changed) {
  const kinds = kindsOf(text)
  return (
    <>
      <span className="font-mono">{visible(path)}</span>
      {!kinds.includes("binary") && (
        <>
          <span className="text-good font-mono text-xs">
            +{added}
            <span className="sr-only"> lines</span>
          </span>
          <span className="text-bad font-mono text-xs">
            −{removed}
            <span className="sr-only"> lines</span>
          </span>
        </>
      )}
      {kinds.map((kind) => (
        <span className="text-soft text-xs" key={kind}>
          {kind}
        </span>
      ))}
      {howMuch[shown] !== undefined && <span className="text-warn text-xs">{howMuch[shown]}</span>}
    </>
  )
}

function ChangedFile({ changed, isOpen }: { readonly changed: Changed; readonly isOpen: boolean }) {
  const [open, setOpen] = useState(isOpen)
  const about = "flex flex-wrap items-baseline gap-x-3 px-3 py-2 text-sm"
  if (changed.file.shown === "none") {
    return (
      <p className={`card ${about}`}>
        <About {...changed} />
      </p>
    )
  }
  return (
    <details className="card overflow-hidden" onToggle={({ currentTarget }) => setOpen(currentTarget.open)} open={open}>
      <summary className={about}>
        <About {...changed} />
      </summary>
      {open && <Drawn changed={changed} />}
    </details>
  )
}

/** The patch has the texts of the files in their order, but for those that are left out. */
const changedOf = (files: ReadonlyArray<ConsoleChangedFile>, patch: string): ReadonlyArray<Changed> => {
  const texts = patch.split(/^(?=diff --git )/m).values()
  return files.map((file) => {
    const text = file.shown === "none" ? "" : (texts.next().value ?? "")
    return { file, text, lines: text.split("\n").length }
  })
}

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((all, one) => all + one, 0)

interface Props {
  readonly files: ReadonlyArray<ConsoleChangedFile>
  readonly text: string
}

export default function Patch({ files, text }: Props) {
  const all = useMemo(() => changedOf(files, text), [files, text])
  let shown = 0
  let openFiles = 0
  return (
    <section aria-label="Changed files" className="space-y-2">
      <h4 className="text-strong text-sm font-semibold">
        {count(files.length, "changed file")},{" "}
        <span className="text-good">+{sum(files.map(({ added }) => added))}</span>{" "}
        <span className="text-bad">−{sum(files.map(({ removed }) => removed))}</span>
      </h4>
      {all.map((changed, index) => {
        const isOpen = changed.lines <= openLines && shown + changed.lines <= openLinesInAll && openFiles < mostOpen
        if (isOpen) {
          shown += changed.lines
          openFiles += 1
        }
        return <ChangedFile changed={changed} isOpen={isOpen} key={`${changed.file.path} ${index}`} />
      })}
    </section>
  )
}
