/** What a terminal shows, as rows of text in which each piece has one look. */
import xterm from "@xterm/headless"

export interface Piece {
  readonly column: number
  readonly columns: number
  readonly text: string
  /** 0 to 15 of the terminal's palette; undefined: the usual one. */
  readonly colour: number | undefined
  readonly bold: boolean
  readonly dim: boolean
}

export type Row = ReadonlyArray<Piece>

interface Size {
  readonly columns: number
  readonly rows: number
}

type Cell = NonNullable<ReturnType<NonNullable<ReturnType<xterm.Terminal["buffer"]["active"]["getLine"]>>["getCell"]>>

const lookOf = (cell: Cell): Pick<Piece, "colour" | "bold" | "dim"> => ({
  colour: cell.isFgPalette() ? cell.getFgColor() : undefined,
  bold: cell.isBold() !== 0,
  dim: cell.isDim() !== 0
})

const isSame = (one: Pick<Piece, "colour" | "bold" | "dim">, other: Pick<Piece, "colour" | "bold" | "dim">): boolean =>
  one.colour === other.colour && one.bold === other.bold && one.dim === other.dim

/** A terminal without a window. */
export class Screen {
  readonly #terminal: xterm.Terminal
  readonly #size: Size

  constructor(size: Size) {
    this.#size = size
    this.#terminal = new xterm.Terminal({ cols: size.columns, rows: size.rows, allowProposedApi: true })
  }

  write(output: string): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(output, resolve))
  }

  get text(): string {
    return this.rows.map((row) => row.map(({ text }) => text).join("")).join("\n")
  }

  get rows(): ReadonlyArray<Row> {
    return Array.from({ length: this.#size.rows }, (_, row) => this.#row(row))
  }

  #row(row: number): Row {
    const { active } = this.#terminal.buffer
    const line = active.getLine(active.baseY + row)
    const pieces: Array<Piece> = []
    for (let column = 0; column < this.#size.columns; column++) {
      const cell = line?.getCell(column)
      if (cell === undefined || cell.getWidth() === 0) continue
      const text = cell.getChars() === "" ? " " : cell.getChars()
      const look = lookOf(cell)
      const last = pieces.at(-1)
      if (last !== undefined && isSame(last, look)) {
        pieces[pieces.length - 1] = { ...last, text: last.text + text, columns: last.columns + cell.getWidth() }
      } else pieces.push({ column, columns: cell.getWidth(), text, ...look })
    }
    return pieces.flatMap((piece, index) => {
      const text = index === pieces.length - 1 ? piece.text.trimEnd() : piece.text
      const columns = piece.columns - (piece.text.length - text.length)
      return text.trim() === "" ? [] : [{ ...piece, text, columns }]
    })
  }
}
