import { execFile } from 'node:child_process';

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Options of `runTool`. */
export interface ToolOptions {
  cwd?: string;
  signal?: AbortSignal | undefined;
}

/** Runs a system program and returns its output; on failure, throws with its error output. */
export function runTool(program: string, args: readonly string[], options: ToolOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...args],
      { ...options, encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else if (error.code === 'ENOENT') reject(new Error(`the program ${program} is missing`, { cause: error }));
        else
          reject(new Error(`${program} ${args[0] ?? ''} failed: ${stderr.trim() || error.message}`, { cause: error }));
      },
    );
    child.stdin?.end();
  });
}
