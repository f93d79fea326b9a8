import type { SocketLike } from '../open-socket.ts';
import type { QueryValue } from '../transport.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import type { TerminalConnection, V1Listener } from './v1-connection.ts';

/**
 * The contract's terminal without a subprotocol: raw output, binary input frames, `resize` as a text frame. It has no
 * offsets and no acknowledgements; some servers put the exit code into the close reason.
 */
export class RawConnection implements TerminalConnection {
  readonly #socket: SocketLike;

  private constructor(socket: SocketLike) {
    this.#socket = socket;
  }

  static async open(
    transport: SandboxTransport,
    id: string,
    request: { query: Readonly<Record<string, QueryValue>>; signal?: AbortSignal | undefined },
    listener: V1Listener,
  ): Promise<RawConnection> {
    let offset = 0;
    const { cols, rows } = request.query;
    const query = { cols, rows };
    const socket = await transport.openTerminal(
      id,
      { query, protocols: [], signal: request.signal },
      {
        message(data) {
          const bytes = typeof data === 'string' ? new TextEncoder().encode(parseOutput(data)) : data;
          listener.output({ bytes, channel: 'stdout', replayed: false, screen: false, offset });
          offset += bytes.length;
        },
        close(code, reason) {
          const exitCode = parseExitCode(reason);
          if (exitCode !== null) listener.exited({ exitCode, signal: null });
          listener.closed(code, reason);
        },
      },
    );
    const unknown = { inputWindowBytes: null, inputTakenBytes: undefined };
    listener.started({ sessionId: null, pid: 0, path: '', offset: 0, replayedBytes: 0, ...unknown });
    return new RawConnection(socket);
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  type(bytes: Uint8Array): void {
    this.#socket.send(bytes.slice());
  }

  /** The contract only knows `resize`. */
  control(control: Readonly<Record<string, unknown>>): void {
    this.#socket.send(JSON.stringify(control));
  }

  acknowledge(): void {
    // What has arrived has arrived.
  }

  close(): void {
    this.#socket.close(1000);
  }
}

/** Some servers of this API wrap output in JSON: `{"type":"output","data"}`. */
function parseOutput(text: string): string {
  if (!text.startsWith('{"')) return text;
  try {
    const fields = JSON.parse(text) as Readonly<Record<string, unknown>>; // checked below
    return fields['type'] === 'output' && typeof fields['data'] === 'string' ? fields['data'] : text;
  } catch {
    return text;
  }
}

function parseExitCode(reason: string): number | null {
  const found = /^\{"exit_code":(\d{1,3})/.exec(reason);
  return found === null ? null : Number(found[1]);
}
