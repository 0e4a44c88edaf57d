/// From dialled digits to calling code and national number.
enum NumberReading {
  typealias Digits = Country.Digits

  /// E.164's limit, calling code too.
  static let limit = 15

  /// Reads calling code and number.
  static func international(_ digits: Digits) throws(PhoneNumberError) -> Digits {
    guard let country = Country.beginning(digits) else { throw .unknownCallingCode }
    let dialled = digits.dropFirst(country.callingCode.count)
    // Longer than the table knows: the plan may have grown, except North America's. With a national prefix before it nobody
    // could tell.
    let canGrow = !country.callingCode.elementsEqual("1".utf8) && country.forms(dialled) == [dialled]
    let grown = canGrow && dialled.count > country.shortest ? dialled : nil
    guard let number = country.number(dialled) ?? grown else { throw country.fault(dialled) }
    let whole = country.callingCode + number
    guard whole.count <= limit else { throw .tooLong }
    return whole
  }

  /// Reads what is dialled in a region.
  static func dialled(_ digits: Digits, in region: Region?) throws(PhoneNumberError) -> Digits {
    let zeros = Array("00".utf8)[...]
    guard let region, let country = Country.of(region: region.code) else {
      guard digits.begins(with: zeros) else { throw .noRegion }
      return try international(digits.dropFirst(2))
    }
    // In Korea 008 is a carrier's prefix, and 0082… the country itself as everybody else writes it. What is ambiguous is
    // read as the first that gives a number of a possible length: as everybody's 00 before the own code, as it's dialled
    // in the region, as everybody's 00.
    if digits.begins(with: zeros + country.callingCode), let whole = complete(digits.dropFirst(2)) { return whole }
    let prefixes = (country.internationalPrefixes + [zeros]).filter { digits.begins(with: $0) }
    for prefix in prefixes {
      if let whole = complete(digits.dropFirst(prefix.count)) { return whole }
    }
    if digits.begins(with: zeros) { return try international(digits.dropFirst(2)) }
    if let number = country.number(digits) {
      // An island's numbers are read again by the rules of the country whose code it shares.
      let whole = country.callingCode + number
      return complete(whole) ?? whole
    }
    if let prefix = prefixes.first { return try international(digits.dropFirst(prefix.count)) }
    // The calling code without a plus, where the number is none of the region's own.
    if digits.begins(with: country.callingCode), let whole = complete(digits) { return whole }
    throw country.fault(digits)
  }

  /// Calling code and number, of a length that the table knows; nil for anything else.
  private static func complete(_ digits: Digits) -> Digits? {
    guard let country = Country.beginning(digits) else { return nil }
    return country.number(digits.dropFirst(country.callingCode.count)).map { country.callingCode + $0 }
  }
}

extension Country {
  var shortest: Int { lengths.map(\.lowerBound).min() ?? 1 }

  /// The number in what is dialled within the country, a subscriber's rather than a service's; nil if no rule gives one of a
  /// possible length.
  func number(_ dialled: Digits) -> Digits? {
    for form in forms(dialled) {
      if lengths.contains(where: { $0.contains(form.count) }) { return form }
      if let completed = localForm?.completed(form) { return completed }
    }
    guard !services.isEmpty else { return nil }
    return forms(dialled, ofServices: true).first { form in
      services.contains { $0.length == form.count && form.starts(with: $0.beginning) }
    }
  }

  /// Why there is no such number.
  func fault(_ dialled: Digits) -> PhoneNumberError {
    let count = forms(dialled).first?.count ?? 0
    return lengths.contains { count < $0.lowerBound } ? .tooShort : .tooLong
  }

  /// With all prefixes taken away, with fewer, and at last as it is if numbers may begin so. The first of a possible length
  /// counts. Services' numbers may begin with digits that no subscriber's does, as 801 in Belarus, where 8 is the prefix.
  func forms(_ dialled: Digits, ofServices: Bool = false) -> [Digits] {
    let canBegin =
      ofServices || !nationalPrefixes.contains { $0.isNeverPart && dialled.begins(with: $0.pattern) }
    let without = nationalPrefixes.compactMap { $0.removed(from: dialled) }
    return without.flatMap { forms($0, ofServices: ofServices) } + (canBegin ? [dialled] : [])
  }
}
