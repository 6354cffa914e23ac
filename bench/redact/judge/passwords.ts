/** Passwords as people choose them, made at run time so that none stands in a file. */
import { type RandomIndex, randomText } from "./template.ts";

const WORDS = "winter summer dragon coffee monkey tiger orange guitar falcon silver harbor pepper rocket maple".split(
  " ",
);
const LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const PUNCTUATION = "!@#$%^&*()-_=+[]{};:,.<>/?~|";

type Make = (random: RandomIndex) => string;

const word: Make = (random) => WORDS[random(WORDS.length)] ?? "";
const capital: Make = (random) => word(random).replace(/^./, (letter) => letter.toUpperCase());
const number: Make = (random) => String(10 + random(9990));
const some = (random: RandomIndex, length: number) => randomText(random, LETTERS, length);

/** Each way to choose one, by its name. */
export const PASSWORDS: Readonly<Record<string, Make>> = {
  "word and number": (random) => `${word(random)}${number(random)}x`,
  "capital, number, exclamation mark": (random) => `${capital(random)}${number(random)}!`,
  "letters replaced by digits": (random) =>
    `${capital(random).replace(/o/g, "0").replace(/e/g, "3")}@${number(random)}`,
  "two words with hyphen": (random) => `${word(random)}-${word(random)}-${number(random)}`,
  "passphrase with spaces": (random) => `${word(random)} ${word(random)} ${word(random)} ${number(random)}`,
  braces: (random) => `${some(random, 5)}{${some(random, 5)}}${some(random, 3)}`,
  "double quote inside": (random) => `${some(random, 6)}"${some(random, 6)}`,
  "single quote inside": (random) => `${some(random, 6)}'${some(random, 6)}`,
  "dollar sign inside": (random) => `${some(random, 6)}$${some(random, 6)}`,
  "number sign and semicolon": (random) => `${some(random, 5)}#${some(random, 4)};${some(random, 4)}`,
  "at sign and colon": (random) => `${some(random, 5)}@${some(random, 4)}:${some(random, 4)}`,
  "equals sign and ampersand": (random) => `${some(random, 5)}=${some(random, 4)}&${some(random, 4)}`,
  backslash: (random) => `${some(random, 6)}\\${some(random, 6)}`,
  "generated, punctuation": (random) =>
    some(random, 2) + randomText(random, LETTERS + PUNCTUATION, 16) + some(random, 2),
  "generated, letters and digits": (random) => some(random, 16),
  "short human": (random) => `${word(random).slice(0, 4)}${10 + random(90)}`,
  "name and year": (random) => `${capital(random)}${1970 + random(56)}`,
  digits: (random) => randomText(random, "0123456789", 10),
};

/** Names that say that the value is one. */
export const PASSWORD_NAMES = [
  "DB_PASSWORD",
  "password",
  "MYSQL_ROOT_PASSWORD",
  "POSTGRES_PASSWORD",
  "smtp_password",
  "adminPassword",
  "REDIS_PASSWORD",
  "spring.datasource.password",
  "keystore_password",
  "passwd",
  "ldap_bind_password",
  "ANSIBLE_BECOME_PASSWORD",
  "jwt_secret",
  "session_secret",
  "user-password",
  "PGPASSWORD",
] as const;
