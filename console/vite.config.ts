import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

/** Nothing is inlined as `data:` but small images: the policy of the page allows no script or font from there. */
export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: { target: "es2024", assetsInlineLimit: 0, chunkSizeWarningLimit: 1000 }
})
