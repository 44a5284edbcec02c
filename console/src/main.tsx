import { render } from "preact";
import { App } from "./app";
import { applyTheme, savedTheme } from "./theme";
import "./styles/fonts.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/pages.css";
import "./styles/lab.css";
import "./styles/learn.css";

applyTheme(savedTheme());
render(<App />, document.getElementById("app")!);
