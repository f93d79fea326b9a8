import buttonStyles from '../ui/button.module.css';
import { classNames } from '../ui/class-names.ts';
import { describeError, faultRequestId } from '../ui/describe-error.ts';
import fieldStyles from '../ui/field.module.css';
import stateStyles from '../ui/states.module.css';
import styles from './entrance.module.css';

/** Creates an element with attributes and children; text is never parsed as HTML. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | boolean | undefined>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, '');
    else if (typeof value === 'string') made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export interface FieldOptions {
  label: string;
  name: string;
  type?: 'text' | 'email' | 'password';
  autocomplete: string;
  hint?: string;
  minLength?: number;
  maxLength?: number;
}

/** A required field. Passwords can be revealed, since people choose short ones when typing blind. */
export function field({
  label,
  name,
  type = 'text',
  autocomplete,
  hint,
  minLength,
  maxLength,
}: FieldOptions): HTMLElement {
  const id = `field-${name}`;
  const input = element('input', {
    id,
    name,
    type,
    autocomplete,
    required: true,
    class: fieldStyles['input'],
    minlength: minLength?.toString(),
    maxlength: maxLength?.toString(),
    ...(type !== 'text' && { spellcheck: 'false', autocapitalize: 'none' }),
    ...(hint !== undefined && { 'aria-describedby': `${id}-hint` }),
  });
  const box = element('div', { class: fieldStyles['box'] }, input);
  if (type === 'password') box.append(revealButton(input));
  return element(
    'div',
    { class: fieldStyles['field'] },
    element('label', { for: id, class: fieldStyles['label'] }, label),
    box,
    ...(hint === undefined ? [] : [element('p', { id: `${id}-hint`, class: fieldStyles['hint'] }, hint)]),
  );
}

function revealButton(input: HTMLInputElement): HTMLButtonElement {
  const button = element('button', { type: 'button', class: styles['reveal'] });
  const show = (revealed: boolean): void => {
    input.type = revealed ? 'text' : 'password';
    button.textContent = revealed ? 'Hide' : 'Show';
    button.setAttribute('aria-label', revealed ? 'Hide password' : 'Show password');
    button.setAttribute('aria-pressed', String(revealed));
  };
  show(false);
  button.addEventListener('click', () => show(input.type === 'password'));
  return button;
}

export interface FormOptions {
  fields: readonly FieldOptions[];
  /** Label of the button. */
  action: string;
  /** Submits the form. On rejection, the form shows the error and can be submitted again. */
  onSubmit: (text: (name: string) => string) => Promise<void>;
  onRefused?: (error: unknown, form: HTMLFormElement) => void;
}

export function form({ fields, action, onSubmit, onRefused }: FormOptions): HTMLFormElement {
  const button = element(
    'button',
    { type: 'submit', class: classNames(buttonStyles['button'], buttonStyles['primary'], styles['submit']) },
    element('span', { class: buttonStyles['label'] }, action),
  );
  const errors = element('div');
  const stack = element('div', { class: fieldStyles['stack'] }, ...fields.map(field));
  const made = element('form', {}, stack, errors, button);
  const setPending = (pending: boolean): void => {
    button.classList.toggle(buttonStyles['pending'] ?? '', pending);
    button.setAttribute('aria-disabled', String(pending));
  };
  made.addEventListener('submit', (event) => {
    event.preventDefault();
    if (button.getAttribute('aria-disabled') === 'true') return;
    const values = new FormData(made);
    setPending(true);
    errors.replaceChildren();
    const readText = (name: string): string => {
      const value = values.get(name);
      return typeof value === 'string' ? value : '';
    };
    onSubmit(readText).catch((error: unknown) => {
      setPending(false);
      errors.replaceChildren(errorBox(error));
      onRefused?.(error, made);
    });
  });
  return made;
}

function errorBox(error: unknown): HTMLElement {
  const requestId = faultRequestId(error);
  const text = element('p', {}, describeError(error));
  if (requestId !== null) {
    text.append(element('span', { class: stateStyles['requestId'] }, 'Request ID ', element('code', {}, requestId)));
  }
  return element('div', { role: 'alert', class: stateStyles['formError'] }, text);
}

export interface EntrancePage {
  title: string;
  description?: string;
  content: readonly Node[];
}

/** The frame of every entrance page. Also sets the document's title. */
export function frame({ title, description, content }: EntrancePage): HTMLElement {
  document.title = `${title} · svc`;
  return element(
    'main',
    { class: styles['entrance'] },
    element(
      'div',
      { class: styles['card'] },
      element('img', { src: '/favicon.svg', alt: '', width: '26', height: '26', class: styles['mark'] }),
      element('h1', { class: styles['title'] }, title),
      ...(description === undefined ? [] : [element('p', { class: styles['description'] }, description)]),
      element('div', { class: styles['body'] }, ...content),
    ),
  );
}

export function notice(text: string): HTMLElement {
  return element('p', { role: 'status', class: styles['notice'] }, text);
}
