import { describe, expect, it } from 'vitest';
import { filterCommands, type Command } from './commands.ts';

const command = (label: string, kind = 'Page'): Command => ({ id: label, label, kind, run: () => undefined });
const commands = [command('Overview'), command('API tokens'), command('New API token', 'Action'), command('Teams')];
const labels = (query: string): string[] => filterCommands(commands, query).map(({ label }) => label);

describe('the command palette', () => {
  it('offers everything before a word is typed', () => {
    expect(labels('  ')).toHaveLength(commands.length);
  });

  it('asks for every word, in any order', () => {
    expect(labels('token new')).toEqual(['New API token']);
  });

  it('finds by the kind too', () => {
    expect(labels('action')).toEqual(['New API token']);
  });

  it('puts what begins with the word first', () => {
    expect(labels('te')).toEqual(['Teams']);
    expect(labels('api')).toEqual(['API tokens', 'New API token']);
  });

  it('answers nothing for what is not there', () => {
    expect(labels('nowhere')).toEqual([]);
  });
});
