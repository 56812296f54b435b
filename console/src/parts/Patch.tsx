/** A diff, a file at a time. Large files are drawn when they are opened. */
import { type FileDiffMetadata, parsePatchFiles } from "@pierre/diffs"
import { FileDiff } from "@pierre/diffs/react"
import { useMemo, useState } from "react"
import { useTheme } from "./theme.ts"
import { visible } from "./visible.ts"

/** Lines of a file that is shown without being asked for, and of all such files. */
const openLines = 400
const openLinesInAll = 2_000

const linesOf = ({ hunks }: FileDiffMetadata): number =>
  hunks.reduce((sum, { unifiedLineCount }) => sum + unifiedLineCount, 0)

const changesOf = ({ hunks }: FileDiffMetadata) => ({
  added: hunks.reduce((sum, { additionLines }) => sum + additionLines, 0),
  removed: hunks.reduce((sum, { deletionLines }) => sum + deletionLines, 0)
})

/** The themes' own green of added lines has too little contrast on its background. */
const contrast =
  ":host { --diffs-bg-addition-override: light-dark(#eaf7ee, #12261a); --diffs-bg-deletion-override: light-dark(#fdecec, #2d1416); }"

function ChangedFile({ file, isOpen }: { readonly file: FileDiffMetadata; readonly isOpen: boolean }) {
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
      {open && (
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

export default function Patch({ text }: { readonly text: string }) {
  const files = useMemo(() => parsePatchFiles(visible(text)).flatMap((patch) => patch.files), [text])
  let shown = 0
  return (
    <div className="space-y-2">
      {files.map((file, index) => {
        const lines = linesOf(file)
        const isOpen = lines <= openLines && shown + lines <= openLinesInAll
        if (isOpen) shown += lines
        return <ChangedFile file={file} isOpen={isOpen} key={`${file.name} ${index}`} />
      })}
    </div>
  )
}
