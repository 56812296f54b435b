/** A diff, a file at a time. Large files are drawn when they are opened. */
import { type FileDiffMetadata, parsePatchFiles } from "@pierre/diffs"
import { FileDiff } from "@pierre/diffs/react"
import { useMemo, useState } from "react"
import LongText from "./LongText.tsx"
import { useTheme } from "./theme.ts"
import { visible } from "./visible.ts"

/** Lines of a file that is shown without being asked for, and of all such files. */
const openLines = 400
const openLinesInAll = 2_000
/** A longer file is shown as plain lines, of which only those that are seen are in the page: drawing it stops the page. */
const mostDrawnLines = 2_000

const linesOf = ({ hunks }: FileDiffMetadata): number =>
  hunks.reduce((sum, { unifiedLineCount }) => sum + unifiedLineCount, 0)

const changesOf = ({ hunks }: FileDiffMetadata) => ({
  added: hunks.reduce((sum, { additionLines }) => sum + additionLines, 0),
  removed: hunks.reduce((sum, { deletionLines }) => sum + deletionLines, 0)
})

/** The themes' own green of added lines has too little contrast on its background. */
const contrast =
  ":host { --diffs-bg-addition-override: light-dark(#eaf7ee, #12261a); --diffs-bg-deletion-override: light-dark(#fdecec, #2d1416); }"

interface Changed {
  readonly file: FileDiffMetadata
  /** The patch of this file alone. */
  readonly text: string
}

function ChangedFile({ changed: { file, text }, isOpen }: { readonly changed: Changed; readonly isOpen: boolean }) {
  const [open, setOpen] = useState(isOpen)
  const theme = useTheme()
  const { added, removed } = changesOf(file)
  return (
    <details className="card overflow-hidden" onToggle={({ currentTarget }) => setOpen(currentTarget.open)} open={open}>
      <summary className="flex flex-wrap items-baseline gap-x-3 px-3 py-2 text-sm">
        <span className="font-mono">{file.name}</span>
        <span className="text-good font-mono text-xs">+{added}</span>
        <span className="text-bad font-mono text-xs">−{removed}</span>
        {file.type === "new" && <span className="text-soft text-xs">new</span>}
        {file.type === "deleted" && <span className="text-soft text-xs">deleted</span>}
      </summary>
      {open && linesOf(file) > mostDrawnLines && <LongText label={`Changes of ${file.name}`} text={text} />}
      {open && linesOf(file) <= mostDrawnLines && (
        <div className="border-line overflow-x-auto border-t">
          <FileDiff
            fileDiff={file}
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
      )}
    </details>
  )
}

/** Undefined: it is no diff that can be read, such as one whose end was left out within a file. */
const filesOf = (patch: string): ReadonlyArray<Changed> | undefined => {
  try {
    return visible(patch)
      .split(/^(?=diff --git )/m)
      .flatMap((text) => parsePatchFiles(text).flatMap(({ files }) => files.map((file) => ({ file, text }))))
  } catch {
    return undefined
  }
}

export default function Patch({ text }: { readonly text: string }) {
  const files = useMemo(() => filesOf(text), [text])
  if (files === undefined) return <LongText label="Changes" text={text} />
  let shown = 0
  return (
    <div className="space-y-2">
      {files.map((changed, index) => {
        const lines = linesOf(changed.file)
        const isOpen = lines <= openLines && shown + lines <= openLinesInAll
        if (isOpen) shown += lines
        return <ChangedFile changed={changed} isOpen={isOpen} key={`${changed.file.name} ${index}`} />
      })}
    </div>
  )
}
