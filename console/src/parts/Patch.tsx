/** A diff, a file at a time. A file is read and drawn when it is opened; small ones are open. */
import { type FileDiffMetadata, processPatch } from "@pierre/diffs"
import { FileDiff } from "@pierre/diffs/react"
import type { ConsoleChangedFile, ConsoleChanges } from "@reprise/protocol"
import { CatchBoundary } from "@tanstack/react-router"
import { useMemo, useState } from "react"
import { count } from "../data/format.ts"
import LongText from "./LongText.tsx"
import { More } from "./More.tsx"
import { useTheme } from "./theme.ts"
import { visible, visibleLine } from "./visible.ts"

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

/** Of one file; none: it cannot be read, such as one that was cut within a hunk. */
const read = (text: string, path: string): ReadonlyArray<FileDiffMetadata> => {
  try {
    return processPatch(text).files.map((diff) => ({ ...diff, name: path }))
  } catch {
    return []
  }
}

const linesOf = ({ text }: ConsoleChangedFile): number => text.split("\n").length

function Drawn({ file }: { readonly file: ConsoleChangedFile }) {
  const { path, shown, text } = file
  const theme = useTheme()
  const safe = useMemo(() => visible(text), [text])
  const isDrawn = shown === "whole" && linesOf(file) <= mostDrawnLines && text.length <= longestDrawn
  const diffs = useMemo(() => (isDrawn ? read(safe, visibleLine(path)) : []), [isDrawn, safe, path])
  const plain = <LongText label={`Changes of ${visibleLine(path)}`} text={text} />
  if (diffs.length === 0) return plain
  return (
    <CatchBoundary errorComponent={() => plain} getResetKey={() => text}>
      <div className="border-line overflow-x-auto border-t">
        {diffs.map((diff) => (
          <FileDiff
            fileDiff={diff}
            key={diff.type}
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
        ))}
      </div>
    </CatchBoundary>
  )
}

const howMuch: Record<ConsoleChangedFile["shown"], string | undefined> = {
  whole: undefined,
  start: "too long: only the beginning is shown",
  none: "too long to be shown here"
}

/** A file's name, what was done with it, and the lines that it adds and removes. */
function About({ added, from, kinds, path, removed, shown }: ConsoleChangedFile) {
  return (
    <>
      <span className="font-mono">{visibleLine(path)}</span>
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
      {from !== undefined && (
        <span className="text-soft text-xs">
          from <span className="font-mono">{visibleLine(from)}</span>
        </span>
      )}
      {howMuch[shown] !== undefined && <span className="text-warn text-xs">{howMuch[shown]}</span>}
    </>
  )
}

function ChangedFile({ file, isOpen }: { readonly file: ConsoleChangedFile; readonly isOpen: boolean }) {
  const [open, setOpen] = useState(isOpen)
  const about = "flex flex-wrap items-baseline gap-x-3 px-3 py-2 text-sm"
  if (file.text === "") {
    return (
      <p className={`card ${about}`}>
        <About {...file} />
      </p>
    )
  }
  return (
    <details className="card overflow-hidden" onToggle={({ currentTarget }) => setOpen(currentTarget.open)} open={open}>
      <summary className={about}>
        <About {...file} />
      </summary>
      {open && <Drawn file={file} />}
    </details>
  )
}

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((all, one) => all + one, 0)

export default function Patch({ files, more }: Pick<ConsoleChanges, "files" | "more">) {
  let shown = 0
  let openFiles = 0
  return (
    <section aria-label="Changed files" className="space-y-2">
      <h4 className="text-strong text-sm font-semibold">
        {count(files.length + more.files, "changed file")},{" "}
        <span className="text-good">+{sum(files.map(({ added }) => added)) + more.added}</span>{" "}
        <span className="text-bad">−{sum(files.map(({ removed }) => removed)) + more.removed}</span>
      </h4>
      {files.map((file) => {
        const lines = linesOf(file)
        const isOpen = lines <= openLines && shown + lines <= openLinesInAll && openFiles < mostOpen
        if (isOpen) {
          shown += lines
          openFiles += 1
        }
        return <ChangedFile file={file} isOpen={isOpen} key={file.path} />
      })}
      <More of={more.files} what="file" />
    </section>
  )
}
