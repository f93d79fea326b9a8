import { once } from 'node:events';
import { WebSocket } from 'ws';

/** Environment that makes a Node.js process announce its inspector. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' } as const;

export interface Inspector extends AsyncDisposable {
  /** Counts the resources held open by Node.js: `Timeout`, `TCPSocketWrap`, …. Collects garbage first. */
  activeResources(): Promise<Record<string, number>>;
}

interface Answer {
  readonly id?: number;
  readonly result?: { readonly result?: { readonly value?: unknown } };
}

/** Attaches to the last process that announced itself in the log. */
export async function attachInspector(log: string): Promise<Inspector> {
  const address = [...log.matchAll(/Debugger listening on (ws:\S+)/g)].at(-1)?.[1];
  if (address === undefined) throw new Error(`no process announced its inspector:\n${log}`);
  const socket = new WebSocket(address);
  await once(socket, 'open');
  let lastId = 0;
  const call = async (method: string, params: Record<string, unknown> = {}): Promise<unknown> => {
    const id = ++lastId;
    const answered = new Promise<Answer>((resolve) => {
      const onMessage = (data: Buffer): void => {
        const answer = JSON.parse(data.toString()) as Answer; // the inspector's protocol
        if (answer.id !== id) return;
        socket.off('message', onMessage);
        resolve(answer);
      };
      socket.on('message', onMessage);
    });
    socket.send(JSON.stringify({ id, method, params }));
    return (await answered).result?.result?.value;
  };
  return {
    activeResources: async () => {
      await call('HeapProfiler.collectGarbage');
      const expression = 'JSON.stringify(process.getActiveResourcesInfo())';
      const text = await call('Runtime.evaluate', { expression, returnByValue: true });
      const names = JSON.parse(String(text)) as string[]; // the expression's result
      const counts: Record<string, number> = {};
      for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
      return counts;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}
