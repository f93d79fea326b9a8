import type { DescService } from '@bufbuild/protobuf';

/** Messages of the service `process.Process`, with the names and numbers that E2B clients use. */
export async function describeProcess(): Promise<DescService> {
  const { describeService } = await import('./message-file.ts');
  return describeService({
    package: 'process',
    enums: { Signal: { SIGNAL_UNSPECIFIED: 0, SIGNAL_SIGKILL: 9, SIGNAL_SIGTERM: 15 } },
    messages: {
      Empty: {},
      Size: { cols: [1, 'uint32'], rows: [2, 'uint32'] },
      Terminal: { size: [1, 'Size'] },
      Config: {
        cmd: [1, 'string'],
        args: [2, 'string', 'repeated'],
        envs: [3, 'string', 'map'],
        cwd: [4, 'string', 'optional'],
      },
      Selector: { selector: { oneof: { pid: [1, 'uint32'], tag: [2, 'string'] } } },
      Selected: { process: [1, 'Selector'] },
      Info: { config: [1, 'Config'], pid: [2, 'uint32'], tag: [3, 'string', 'optional'] },
      Listed: { processes: [1, 'Info', 'repeated'] },
      StartRequest: {
        process: [1, 'Config'],
        pty: [2, 'Terminal', 'optional'],
        tag: [3, 'string', 'optional'],
        stdin: [4, 'bool', 'optional'],
      },
      UpdateRequest: { process: [1, 'Selector'], pty: [2, 'Terminal', 'optional'] },
      SignalRequest: { process: [1, 'Selector'], signal: [2, 'Signal'] },
      Input: { input: { oneof: { stdin: [1, 'bytes'], pty: [2, 'bytes'] } } },
      InputRequest: { process: [1, 'Selector'], input: [2, 'Input'] },
      InputData: { input: [2, 'Input'] },
      InputEvent: { event: { oneof: { start: [1, 'Selected'], data: [2, 'InputData'], keepalive: [3, 'Empty'] } } },
      Started: { pid: [1, 'uint32'] },
      Data: { output: { oneof: { stdout: [1, 'bytes'], stderr: [2, 'bytes'], pty: [3, 'bytes'] } } },
      Ended: {
        exit_code: [1, 'sint32'],
        exited: [2, 'bool'],
        status: [3, 'string'],
        error: [4, 'string', 'optional'],
      },
      Event: {
        event: { oneof: { start: [1, 'Started'], data: [2, 'Data'], end: [3, 'Ended'], keepalive: [4, 'Empty'] } },
      },
      EventResponse: { event: [1, 'Event'] },
    },
    service: 'Process',
    methods: {
      List: { input: 'Empty', output: 'Listed' },
      Connect: { input: 'Selected', output: 'EventResponse', streams: 'output' },
      Start: { input: 'StartRequest', output: 'EventResponse', streams: 'output' },
      Update: { input: 'UpdateRequest', output: 'Empty' },
      StreamInput: { input: 'InputEvent', output: 'Empty', streams: 'input' },
      SendInput: { input: 'InputRequest', output: 'Empty' },
      SendSignal: { input: 'SignalRequest', output: 'Empty' },
      CloseStdin: { input: 'Selected', output: 'Empty' },
    },
  });
}

/** A member of a oneof; absent members have no case. */
type Oneof<Members> =
  | { [Case in keyof Members]: { readonly case: Case; readonly value: Members[Case] } }[keyof Members]
  | { readonly case?: undefined };

export interface SelectedMessage {
  readonly process?: { readonly selector: Oneof<{ pid: number; tag: string }> };
}

export interface TerminalMessage {
  readonly size?: { readonly cols: number; readonly rows: number };
}

export interface StartMessage {
  readonly process?: {
    readonly cmd: string;
    readonly args: readonly string[];
    readonly envs: Readonly<Record<string, string>>;
    readonly cwd?: string;
  };
  readonly pty?: TerminalMessage;
  readonly tag?: string;
  readonly stdin?: boolean;
}

export interface UpdateMessage extends SelectedMessage {
  readonly pty?: TerminalMessage;
}

export interface SignalMessage extends SelectedMessage {
  readonly signal: number;
}

export interface InputMessage {
  readonly input: Oneof<{ stdin: Uint8Array; pty: Uint8Array }>;
}

export interface InputRequestMessage extends SelectedMessage {
  readonly input?: InputMessage;
}

export interface InputEventMessage {
  readonly event: Oneof<{ start: SelectedMessage; data: { readonly input?: InputMessage }; keepalive: object }>;
}

/** A message of the streams that follow a process. */
export interface ProcessEventMessage {
  readonly event: {
    readonly event: Oneof<{
      start: { readonly pid: number };
      data: { readonly output: Oneof<{ stdout: Uint8Array; stderr: Uint8Array; pty: Uint8Array }> };
      end: {
        readonly exitCode: number;
        readonly exited: boolean;
        readonly status: string;
        readonly error?: string;
      };
      keepalive: object;
    }>;
  };
}
