import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryFolder } from '@svc/testing';
import { WebSocket } from 'ws';
import type { RunningPlatform } from './platform.ts';

/** Disables prompts, downloads and telemetry; saves files to the profile. */
const PREFERENCES = {
  'browser.download.folderList': 2,
  'browser.download.useDownloadDir': true,
  'browser.download.always_ask_before_handling_new_types': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
};
const COMMAND_MS = 30_000;

export interface Firefox extends AsyncDisposable {
  /** Console messages of scripts. */
  readonly ran: string[];
  /** Opens the URL as a page; downloads are not shown. */
  open(url: string): Promise<void>;
  /** Opens the URL with this page as its response, without contacting the server. */
  openInstead(url: string, html: string): Promise<void>;
  signIn(platform: RunningPlatform): Promise<void>;
}

type Message = Readonly<Record<string, unknown>>;

/** The distribution's Firefox, controlled directly by WebDriver BiDi. */
export async function launchFirefox(): Promise<Firefox> {
  const folder = await temporaryFolder('svc-firefox-');
  const lines = Object.entries({ ...PREFERENCES, 'browser.download.dir': folder.path }).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  await writeFile(join(folder.path, 'user.js'), lines.join('\n'));
  const browser = spawn(
    'firefox-esr',
    ['--headless', '--no-remote', '--profile', folder.path, '--remote-debugging-port', '0'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exited = once(browser, 'exit');
  const stop = async (): Promise<void> => {
    browser.kill('SIGTERM');
    await exited;
    await folder.remove();
  };
  try {
    const session = await connect(await addressOf(createInterface({ input: browser.stderr })));
    browser.stderr.resume();
    await session.send('session.new', { capabilities: {} });
    await session.send('session.subscribe', { events: ['log.entryAdded'] });
    const created = await session.send('browsingContext.create', { type: 'tab' });
    const { context } = created;
    const evaluate = (expression: string): Promise<Message> =>
      session.send('script.evaluate', { expression, target: { context }, awaitPromise: true });
    const open = async (url: string): Promise<void> => {
      // A download has no page: the browser stays where it is and reports an error.
      await session.send('browsingContext.navigate', { context, url, wait: 'complete' }).catch((error: unknown) => {
        if (!/NS_BINDING_ABORTED|NS_ERROR|unknown error|navigation/i.test(String(error))) throw error;
      });
    };
    return {
      ran: session.ran,
      open,
      openInstead: async (url, html) => {
        const urlPatterns = [{ type: 'string', pattern: url }];
        await session.send('network.addIntercept', { phases: ['beforeRequestSent'], urlPatterns });
        await session.send('session.subscribe', { events: ['network.beforeRequestSent'] });
        session.answerBlocked(html);
        await open(url);
      },
      signIn: async ({ url, owner }) => {
        await open(url);
        const body = JSON.stringify(JSON.stringify(owner));
        const headers = "{ 'content-type': 'application/json' }";
        await evaluate(`fetch('/api/auth/login', { method: 'POST', headers: ${headers}, body: ${body} })`);
      },
      [Symbol.asyncDispose]: async () => {
        session.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function addressOf(output: AsyncIterable<string>): Promise<string> {
  for await (const line of output) {
    const address = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(line)?.[1];
    if (address !== undefined) return `${address}/session`;
  }
  throw new Error('Firefox did not say where it listens');
}

interface Session {
  readonly ran: string[];
  send(method: string, params: object): Promise<Message>;
  /** Sets the response to intercepted requests. */
  answerBlocked(html: string): void;
  close(): void;
}

async function connect(address: string): Promise<Session> {
  const socket = new WebSocket(address);
  await once(socket, 'open');
  const waiting = new Map<number, PromiseWithResolvers<Message>>();
  const ran: string[] = [];
  let last = 0;
  let page = '';
  const send = async (method: string, params: object): Promise<Message> => {
    last += 1;
    const id = last;
    const call = Promise.withResolvers<Message>();
    waiting.set(id, call);
    const late = setTimeout(() => call.reject(new Error(`${method} took too long`)), COMMAND_MS);
    socket.send(JSON.stringify({ id, method, params }));
    return await call.promise.finally(() => clearTimeout(late));
  };
  const provide = async (request: string): Promise<void> => {
    const headers = [{ name: 'content-type', value: { type: 'string', value: 'text/html' } }];
    const body = { type: 'string', value: page };
    await send('network.provideResponse', { request, statusCode: 200, reasonPhrase: 'OK', headers, body });
  };
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Message; // of the protocol
    const { id, type, method } = message;
    if (method === 'log.entryAdded') {
      const { text } = message['params'] as { text?: string }; // per BiDi
      if (text?.startsWith('RAN ') === true) ran.push(text);
      return;
    }
    if (method === 'network.beforeRequestSent') {
      const { isBlocked, request } = message['params'] as { isBlocked: boolean; request: { request: string } }; // per BiDi
      if (isBlocked) void provide(request.request);
      return;
    }
    const call = typeof id === 'number' ? waiting.get(id) : undefined;
    if (typeof id === 'number') waiting.delete(id);
    if (type === 'success') call?.resolve(message['result'] as Message); // per BiDi
    else call?.reject(new Error(`${String(message['error'])}: ${String(message['message'])}`));
  });
  return {
    ran,
    send,
    answerBlocked: (html) => {
      page = html;
    },
    close: () => socket.terminate(),
  };
}
