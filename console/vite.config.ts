import { defineConfig } from "vite";

// The server hands out `/` and `/assets/*` and nothing else, and forbids inline code and outside requests
// (Content-Security-Policy), so everything becomes a file under assets/.
const outDir = process.env.CONSOLE_OUT ?? "../build/console";
const server = process.env.DISCREET_URL ?? "http://127.0.0.1:8080";

export default defineConfig({
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    outDir,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { "/v1": server, "/healthz": server } },
});
