import { Command } from 'commander';
import { expect, it } from 'vitest';
import { registerCommands } from './all-commands.ts';

const MAX_CHARACTERS = 100;
/** Literal values of an argument or option. */
const VALUES = /^(enabled or suspended|none or sse-s3|svc:\/\/\S+)/;

interface Text {
  readonly where: string;
  readonly text: string;
}

function collectTexts(command: Command, path: string): Text[] {
  const own = [
    { where: path, text: command.description() },
    ...command.options.map((option) => ({ where: `${path} ${option.flags}`, text: option.description })),
    ...command.registeredArguments.map((argument) => ({
      where: `${path} ${argument.name()}`,
      text: argument.description,
    })),
  ];
  return [...own, ...command.commands.flatMap((each) => collectTexts(each, `${path} ${each.name()}`))];
}

it('describes every command and option in one line, in sentence case, without a final period', async () => {
  const program = new Command('svc').description('Clusters');
  await registerCommands(program, undefined);
  const texts = collectTexts(program, 'svc');
  expect(texts.length).toBeGreaterThan(300);
  const named = texts.filter(({ text }) => text !== '');
  const bad = named.filter(
    ({ text }) => text.length > MAX_CHARACTERS || /[\n]|\.$/.test(text) || (!/^[A-Z]/.test(text) && !VALUES.test(text)),
  );
  expect(bad).toEqual([]);
});

it('describes every command', async () => {
  const program = new Command('svc').description('Clusters');
  await registerCommands(program, undefined);
  const commands = (command: Command, path: string): string[] => [
    ...(command.description() === '' ? [path] : []),
    ...command.commands.flatMap((each) => commands(each, `${path} ${each.name()}`)),
  ];
  expect(commands(program, 'svc')).toEqual([]);
});
