#include "town/names.h"

#include <array>

namespace discreet::town {
namespace {

using namespace std::string_view_literals;

constexpr std::array kWomen = {
    "Ada"sv,    "Agnes"sv,   "Aisha"sv,   "Alma"sv,   "Amara"sv, "Anita"sv, "Anya"sv,   "Beatriz"sv,
    "Bella"sv,  "Brida"sv,   "Camille"sv, "Carmen"sv, "Celia"sv, "Clara"sv, "Dalia"sv,  "Daphne"sv,
    "Delia"sv,  "Dorothy"sv, "Edith"sv,   "Elena"sv,  "Elise"sv, "Emma"sv,  "Esther"sv, "Faye"sv,
    "Fatima"sv, "Flora"sv,   "Frida"sv,   "Grace"sv,  "Greta"sv, "Hana"sv,  "Hazel"sv,  "Helen"sv,
    "Imani"sv,  "Ines"sv,    "Iris"sv,    "Ivy"sv,    "Jade"sv,  "Joan"sv,  "Judith"sv, "Kira"sv,
    "Lan"sv,    "Laura"sv,   "Leila"sv,   "Lucia"sv,  "Mabel"sv, "Maria"sv, "Mei"sv,    "Mina"sv,
    "Nadia"sv,  "Nora"sv,    "Olive"sv,   "Paula"sv,  "Priya"sv, "Rosa"sv,  "Ruth"sv,   "Sara"sv,
    "Sofia"sv,  "Sue"sv,     "Tamar"sv,   "Thea"sv,   "Uma"sv,   "Vera"sv,  "Wanda"sv,  "Yara"sv,
    "Yuki"sv,   "Zoe"sv};

constexpr std::array kMen = {
    "Aaron"sv,  "Abel"sv,   "Adam"sv,   "Ahmed"sv,  "Alan"sv,   "Amir"sv,   "Anton"sv,  "Arjun"sv,
    "Basil"sv,  "Ben"sv,    "Boris"sv,  "Bruno"sv,  "Carl"sv,   "Cesar"sv,  "Chen"sv,   "Cyrus"sv,
    "Daniel"sv, "David"sv,  "Diego"sv,  "Edgar"sv,  "Elias"sv,  "Emil"sv,   "Enzo"sv,   "Eric"sv,
    "Felix"sv,  "Frank"sv,  "George"sv, "Gideon"sv, "Hassan"sv, "Henry"sv,  "Hugo"sv,   "Ian"sv,
    "Isaac"sv,  "Ivan"sv,   "Jack"sv,   "Jamal"sv,  "Jin"sv,    "John"sv,   "Jonas"sv,  "Kai"sv,
    "Karim"sv,  "Kofi"sv,   "Lars"sv,   "Leo"sv,    "Luis"sv,   "Marco"sv,  "Mateo"sv,  "Max"sv,
    "Miles"sv,  "Nabil"sv,  "Noah"sv,   "Oscar"sv,  "Omar"sv,   "Paul"sv,   "Pedro"sv,  "Quentin"sv,
    "Ravi"sv,   "Samuel"sv, "Simon"sv,  "Tariq"sv,  "Thomas"sv, "Victor"sv, "Walter"sv, "Wei"sv,
    "Yusuf"sv,  "Zane"sv};

constexpr std::array kSurnames = {
    "Abara"sv,     "Adler"sv,   "Alder"sv,   "Amadi"sv,    "Arden"sv,    "Ashby"sv,   "Bakker"sv,
    "Barlow"sv,    "Bello"sv,   "Benning"sv, "Birch"sv,    "Bishara"sv,  "Blythe"sv,  "Bonet"sv,
    "Brandt"sv,    "Brook"sv,   "Calder"sv,  "Carlson"sv,  "Castro"sv,   "Chandra"sv, "Cheng"sv,
    "Clay"sv,      "Coburn"sv,  "Cortez"sv,  "Dalton"sv,   "Danso"sv,    "Dara"sv,    "Delacroix"sv,
    "Diaz"sv,      "Dorsey"sv,  "Duval"sv,   "Eames"sv,    "Eklund"sv,   "Ellery"sv,  "Esposito"sv,
    "Farrow"sv,    "Fenwick"sv, "Ferrer"sv,  "Fontaine"sv, "Frost"sv,    "Gallo"sv,   "Garza"sv,
    "Gilroy"sv,    "Grady"sv,   "Hale"sv,    "Haddad"sv,   "Hamid"sv,    "Hartley"sv, "Hayashi"sv,
    "Heller"sv,    "Hobbs"sv,   "Holm"sv,    "Huang"sv,    "Ibarra"sv,   "Idris"sv,   "Iyer"sv,
    "Jansen"sv,    "Jarvis"sv,  "Juarez"sv,  "Kaplan"sv,   "Kapoor"sv,   "Keane"sv,   "Keller"sv,
    "Khan"sv,      "Kimura"sv,  "Kowal"sv,   "Laird"sv,    "Lang"sv,     "Larkin"sv,  "Lowe"sv,
    "Lund"sv,      "Mahmoud"sv, "Marsh"sv,   "Mercado"sv,  "Meyer"sv,    "Mills"sv,   "Moreau"sv,
    "Mori"sv,      "Nadeau"sv,  "Nair"sv,    "Navarro"sv,  "Ngo"sv,      "Norris"sv,  "Novak"sv,
    "Oakes"sv,     "Ochoa"sv,   "Okafor"sv,  "Olsen"sv,    "Ortega"sv,   "Osei"sv,    "Palmer"sv,
    "Park"sv,      "Pell"sv,    "Petrov"sv,  "Pham"sv,     "Pinto"sv,    "Quill"sv,   "Quintero"sv,
    "Rahman"sv,    "Ramos"sv,   "Reyes"sv,   "Rhodes"sv,   "Rossi"sv,    "Rowan"sv,   "Sadler"sv,
    "Saito"sv,     "Santos"sv,  "Sato"sv,    "Seward"sv,   "Shah"sv,     "Silva"sv,   "Sorel"sv,
    "Stone"sv,     "Sung"sv,    "Takeda"sv,  "Tanaka"sv,   "Thorne"sv,   "Tran"sv,    "Trask"sv,
    "Underhill"sv, "Vance"sv,   "Varga"sv,   "Vega"sv,     "Voss"sv,     "Wade"sv,    "Walsh"sv,
    "Ward"sv,      "Weaver"sv,  "Weiss"sv,   "Wells"sv,    "Whitlock"sv, "Wong"sv,    "Yates"sv,
    "Yilmaz"sv,    "York"sv,    "Zamora"sv,  "Zeller"sv,   "Zhou"sv};

constexpr std::array kStreets = {
    "Main St"sv,    "Mill Rd"sv,     "Harbor St"sv,   "Orchard Ln"sv,  "Elm St"sv,
    "Chapel St"sv,  "Quarry Rd"sv,   "Station Ave"sv, "Park Pl"sv,     "River St"sv,
    "Lantern Ln"sv, "Foundry St"sv,  "Meadow Ln"sv,   "College Ave"sv, "Market Sq"sv,
    "Cedar St"sv,   "Bridge St"sv,   "Garden St"sv,   "Hill Rd"sv,     "Tanner St"sv,
    "Willow Way"sv, "Prospect St"sv, "Cooper St"sv,   "Granary Row"sv, "Pond St"sv,
    "Ferry Ln"sv,   "Maple Ave"sv,   "School St"sv,   "Summit Rd"sv,   "Weir St"sv,
    "Almond Ct"sv,  "Beacon Rd"sv,   "Court St"sv,    "Dock St"sv,     "East St"sv,
    "Fair Ave"sv,   "Glass St"sv,    "Heron Way"sv,   "Iron St"sv,     "Juniper Rd"sv};

}  // namespace

std::span<const std::string_view> women_names() {
  return kWomen;
}
std::span<const std::string_view> men_names() {
  return kMen;
}
std::span<const std::string_view> surnames() {
  return kSurnames;
}
std::span<const std::string_view> streets() {
  return kStreets;
}

}  // namespace discreet::town
