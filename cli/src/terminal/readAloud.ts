/** Whether a program reads the terminal aloud. It follows lines, and would read redrawn text again and again. */
export const isReadAloud = (): boolean =>
  process.env["INK_SCREEN_READER"] === "true" || Boolean(process.env["ACCESSIBLE"])
